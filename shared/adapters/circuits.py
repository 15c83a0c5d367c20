"""The circuits of one lane, in one row of its ledger: read with the other rows that a search opens with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from shared.adapters.keys import ONLY
from shared.adapters.row_reads import RowReads
from shared.adapters.services import DynamoDBClient
from shared.ports.circuits import ChangedCircuits, KnownCircuits

if TYPE_CHECKING:
    from shared.domain.circuits import Rule

CIRCUITS: Final = "CIRCUITS"


class DynamoCircuits:
    """Implements `ports.circuits.CircuitStore`. `table` is the ledger of the lane. What is needed only where something
    is not well is loaded only then.
    """

    def __init__(self, client: DynamoDBClient, *, reads: RowReads, table: str) -> None:
        self._client = client
        self._reads = reads
        self._table = table

    async def read(self) -> KnownCircuits:
        row = await self._reads.row(self._table, CIRCUITS, ONLY, is_needed=False)
        if not row:
            return KnownCircuits()
        from shared.adapters.circuit_items import known_in

        return known_in(row)

    async def change(self, rule: Rule, *, known: KnownCircuits) -> ChangedCircuits:
        from shared.adapters.circuit_changes import ChangeCircuits

        return await ChangeCircuits(self._client, table=self._table)(rule, known=known)
