"""Changing the circuits of one lane. Loaded when there is something to write: most processes never do.

Everything that one search changes is one write, on the condition that the row is still as it was read. Whoever comes
second is told how it is now and applies its rule to that.
"""

from __future__ import annotations

import asyncio
import secrets
from itertools import islice
from typing import TYPE_CHECKING, Final

from shared.adapters.attributes import Item, NewItem, number
from shared.adapters.circuit_items import CIRCUIT, VERSION, attribute_of, known_in
from shared.adapters.circuits import CIRCUITS
from shared.adapters.failures import store_unavailable
from shared.adapters.keys import ONLY, key_of
from shared.adapters.row_updates import Updated, update_row
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.domain.circuits import WELL, Circuit, Circuits, Rule
from shared.ports.circuits import ChangedCircuits, KnownCircuits

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

MOST_IN_A_WRITE: Final = 150  # as many as an expression can hold, with room to spare
_ATTEMPTS = 8
_PAUSE_MS = 2  # doubled with each attempt; the actual pause is anything up to that
_VERSIONS = 2**52

_nobody_wrote = "attribute_not_exists(#version)"
_is_as_it_was = "#version = :expected"
_is_marked = "#version = :version"


class ChangeCircuits:
    """`ports.circuits.CircuitStore.change`, over one table."""

    def __init__(self, client: DynamoDBClient, *, table: str) -> None:
        self._client = client
        self._table = table

    async def __call__(self, rule: Rule, *, known: KnownCircuits) -> ChangedCircuits:
        """One write; one for each `MOST_IN_A_WRITE` where more than that change at once."""
        before: dict[str, Circuit] = {}
        after: dict[str, Circuit] = {}
        expected = number(known.version) if known.version else None
        for attempt in range(_ATTEMPTS):
            left = {id_: circuit for id_, circuit in rule(known.circuits).items() if id_ not in after}
            part = dict(islice(left.items(), MOST_IN_A_WRITE))
            if not part:
                return ChangedCircuits(before=before, after=after, known=known)
            is_done, row = await self._try(part, expected=expected)
            found = known_in(row)
            if is_done:
                before |= {id_: known.circuits.get(id_, WELL) for id_ in part}
                after |= part
                if len(part) == len(left):
                    return ChangedCircuits(before=before, after=after, known=found)
            else:
                await asyncio.sleep(secrets.randbelow(_PAUSE_MS * 2**attempt) / 1_000)
            known, expected = found, row.get(VERSION)
        raise store_unavailable()

    async def _try(self, part: Circuits, *, expected: AttributeValueTypeDef | None) -> tuple[bool, Item]:
        """Whether it is written, and the row as it is now."""
        version = number(1 + secrets.randbelow(_VERSIONS))
        updated = await in_thread(self._write, part, expected, version)
        # The client repeats a write whose answer was lost, and then finds its own.
        return updated.is_done or updated.row.get(VERSION) == version, updated.row

    def _write(self, part: Circuits, expected: AttributeValueTypeDef | None, version: AttributeValueTypeDef) -> Updated:
        """Short stand-ins for the names: written out they would outgrow what an expression may hold."""
        aliases = {id_: f"c{number_}" for number_, id_ in enumerate(part)}
        values: NewItem = {":version": version}
        values |= {f":{aliases[id_]}": attribute_of(circuit) for id_, circuit in part.items() if circuit != WELL}
        if expected is not None:
            values[":expected"] = expected
        sets = [_is_marked, *(f"#{aliases[id_]} = :{aliases[id_]}" for id_, circuit in part.items() if circuit != WELL)]
        removes = [f"#{aliases[id_]}" for id_, circuit in part.items() if circuit == WELL]
        return update_row(
            self._client,
            self._table,
            key_of(CIRCUITS, ONLY),
            f"SET {', '.join(sets)}" + (f" REMOVE {', '.join(removes)}" if removes else ""),
            condition=_nobody_wrote if expected is None else _is_as_it_was,
            values=values,
            names={f"#{alias}": CIRCUIT + id_ for id_, alias in aliases.items()},
        )
