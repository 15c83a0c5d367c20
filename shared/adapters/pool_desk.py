"""An operator's changes to the keys of a pool."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from shared.adapters.attributes import NewItem, number, text
from shared.adapters.company import audited
from shared.adapters.pool_ledger import REST, DynamoPoolLedger, item_of_rest, place_of_keys
from shared.adapters.services import DynamoDBClient
from shared.adapters.transactions import Moved, busy, commit, moved, refused_as, update
from shared.domain.changes import Change
from shared.domain.key_pools import PoolState, Rest
from shared.domain.pools import Pool
from shared.ports.clock import Clock

_is_in_use = "#active = :active"


class DynamoPoolDesk:
    """Implements `ports.pool_desk.PoolDesk`."""

    def __init__(self, client: DynamoDBClient, *, table: str, audit_table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._audit_table = audit_table
        self._ledger = DynamoPoolLedger(client, table=table, clock=clock)

    async def rest(self, pool: Pool, fingerprint: str, rest: Rest, *, active: str | None, change: Change) -> PoolState:
        alias = f"#{REST}{fingerprint}"
        changes = [f"{alias} = :rest"]
        values: NewItem = {":rest": item_of_rest(rest), ":until": number(rest.until)}
        if active is not None:
            changes.append(_is_in_use)
            values[":active"] = text(active)
        resting = update(
            self._table,
            place_of_keys(pool),
            change=f"SET {', '.join(changes)}",
            condition=f"attribute_not_exists({alias}) OR {alias}.#until < :until",
            values=values,
            refusal=refused_as(moved),
        )
        with contextlib.suppress(Moved):  # a rest that ends later was written meanwhile
            await commit(self._client, [resting, audited(change, table=self._audit_table)])
        return await self._ledger.state(pool)

    async def wake(self, pool: Pool, fingerprints: Sequence[str], *, change: Change) -> PoolState:
        names = ", ".join(f"#{REST}{fingerprint}" for fingerprint in dict.fromkeys(fingerprints))
        waking = update(self._table, place_of_keys(pool), change=f"REMOVE {names}", refusal=refused_as(busy))
        await commit(self._client, [waking, audited(change, table=self._audit_table)])
        return await self._ledger.state(pool)
