"""What the distribution in front sends, by its digests, out of a table that the function may read anyway."""

from __future__ import annotations

import re
from typing import Final

from shared.adapters.attributes import Item, NewItem, text
from shared.adapters.keys import ONLY, key_of
from shared.adapters.rows import row
from shared.adapters.services import DynamoDBClient
from shared.domain.front import FrontDigests
from shared.errors import Unavailable
from shared.ports.clock import Clock, Moment

PARTITION: Final = "FRONT"
KEPT_FOR_S: Final = 60.0
_READ_ANEW_AFTER_S: Final = 30.0
_TRIED_AGAIN_AFTER_S: Final = 5.0
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


class DynamoFrontDoor:
    """Implements `ports.front_door.FrontDoor`. One read a process and half minute; when it fails, what is known holds
    out for the other half. Both clocks count, as either may stand still while the process is frozen.
    """

    def __init__(self, client: DynamoDBClient, *, table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._digests: FrontDigests | None = None
        self._read_at: Moment | None = None
        self._tried_at: Moment | None = None

    def admits(self, presented: str) -> bool:
        self._refresh()
        return self._digests is not None and self._digests.match(presented)

    def _refresh(self) -> None:
        if self._is_younger(self._read_at, _READ_ANEW_AFTER_S):
            return
        holds_out = self._is_younger(self._read_at, KEPT_FOR_S)
        if holds_out and self._is_younger(self._tried_at, _TRIED_AGAIN_AFTER_S):
            return
        self._tried_at = Moment.of(self._clock)
        try:
            self._digests = self._read()
        except Unavailable:
            if not holds_out:
                raise
            return
        self._read_at = self._tried_at

    def _read(self) -> FrontDigests | None:
        return digests_of(row(self._client, self._table, PARTITION, ONLY))

    def _is_younger(self, since: Moment | None, seconds: float) -> bool:
        return since is not None and since.is_within(seconds, clock=self._clock)


def front_item(digests: FrontDigests) -> NewItem:
    """The row as it is kept, the same in each table."""
    item: NewItem = {**key_of(PARTITION, ONLY), "current": text(digests.current)}
    if digests.previous:
        item["previous"] = text(digests.previous)
    return item


def digests_of(item: Item | None) -> FrontDigests | None:
    """None for no row, and for one that holds anything else: nobody is admitted by mistake."""
    found = [(item or {}).get(name, {}).get("S") for name in ("current", "previous")]
    current, previous = (each if each and _DIGEST.fullmatch(each) else None for each in found)
    return FrontDigests(current, previous) if current else None
