"""Copies of collections' keys in this process: made beside the event loop, bounded, each under the generation that it
was read at.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from shared.adapters.attributes import text_of
from shared.adapters.automaton import Automaton
from shared.adapters.card_items import COLLECTIONS, KEYS, card_ids_of, collection_of
from shared.adapters.keys import SORT_KEY
from shared.adapters.rows import row, rows
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.adapters.unreadable import readable
from shared.domain.cards import Collection
from shared.domain.deadlines import Deadline
from shared.domain.matching import Occurrence
from shared.errors import Unavailable
from shared.ports.clock import Clock

T = TypeVar("T")

MAX_COPIES: Final = 64
MAX_KEPT_KEYS: Final = 250_000
MAX_KEPT_KEY_BYTES: Final = 8 * 1024 * 1024

_PAGE_ROWS = 20_000  # more than a page of the store can hold
_READS = 3
# How long making the automaton of a copy takes, which holds the process up: 0.3 µs a byte were measured; a share of a
# processor is slower.
_SECONDS_PER_KEY_BYTE = 0.7e-6
_SHORT_S = 0.05
_LONG_TEXT_CHARACTERS = 1_000  # a millisecond or so; more could be felt by what else the event loop is doing
# An import that was killed may still have one write on its way when its lease ends.
_LEASE_MARGIN_S = 60.0

_collection = readable(collection_of)
_card_ids = readable(card_ids_of)

# One at a time: two would only share one processor, and neither be ready sooner.
_MAKING = ThreadPoolExecutor(1, thread_name_prefix="vocabulary")


class VocabularyCopy:
    """The keys of one collection in ascending order, and who has them. Can match from `make_ready` on."""

    def __init__(self, generation: int, keys: list[str], card_ids: list[tuple[str, ...]]) -> None:
        self.generation = generation
        self.key_count = len(keys)
        self.key_bytes = sum(len(key.encode()) for key in keys)
        self._keys = keys
        self._card_ids = card_ids
        self._automaton: Automaton | None = None

    @property
    def is_ready(self) -> bool:
        return self._automaton is not None

    @property
    def seconds_to_ready(self) -> float:
        return self.key_bytes * _SECONDS_PER_KEY_BYTE

    def make_ready(self) -> None:
        if self._automaton is None:
            self._automaton = Automaton(self._keys)

    def occurring(self, text: str) -> tuple[Occurrence, ...]:
        if self._automaton is None:
            raise ValueError("not made ready")
        keys, card_ids = self._keys, self._card_ids
        return tuple([Occurrence(keys[at], card_ids[at]) for at in sorted(self._automaton.occurring(text))])


class VocabularyCopies:
    """One for a process, for both lanes: whether a collection may be read is settled before its copy is asked for."""

    def __init__(self, client: DynamoDBClient, *, table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, VocabularyCopy] = OrderedDict()

    async def occurring(
        self, collection: Collection, text: str, *, turn: asyncio.Future[Deadline]
    ) -> tuple[Occurrence, ...]:
        """`collection` as it was read just now. Raises `Unavailable`. Who gives up waiting takes nothing along: what is
        being read or made then goes on, and is there for the next one.
        """
        copy = self._kept_of(collection)
        if copy is None:
            copy = await _beside(self._current, collection)
        if not copy.is_ready:
            await self._make_ready(copy, turn)
        if len(text) > _LONG_TEXT_CHARACTERS:
            return await in_thread(copy.occurring, text)
        return copy.occurring(text)

    async def _make_ready(self, copy: VocabularyCopy, turn: asyncio.Future[Deadline]) -> None:
        if copy.seconds_to_ready > _SHORT_S:
            deadline = await asyncio.shield(turn)
            if copy.seconds_to_ready > deadline.remaining_s(self._clock.monotonic()):
                if self._is_kept(copy):
                    _MAKING.submit(copy.make_ready)  # for the next one
                raise _not_in_time()
        await _beside(copy.make_ready)

    def _kept_of(self, collection: Collection) -> VocabularyCopy | None:
        with self._lock:
            copy = self._kept.get(collection.id)
            if copy is None or copy.generation != collection.content_generation or self._is_importing(collection):
                return None
            self._kept.move_to_end(collection.id)
            return copy

    def _is_kept(self, copy: VocabularyCopy) -> bool:
        with self._lock:
            return any(kept is copy for kept in self._kept.values())

    def _current(self, collection: Collection) -> VocabularyCopy:
        """Blocking. Reads again while writes arrive in between. After some tries what was read last is used once and
        not kept: each of its rows was current when this began.
        """
        if (kept := self._kept_of(collection)) is not None:  # made meanwhile, by whom this one waited for
            return kept
        copy = self._read(collection)
        for _ in range(_READS):
            now = self._now(collection)
            if now.content_generation == copy.generation:
                if not self._is_importing(collection) and not self._is_importing(now):
                    self._keep(collection.id, copy)
                break
            collection, copy = now, self._read(now)
        return copy

    def _now(self, collection: Collection) -> Collection:
        """As it is now; as it was where it has gone meanwhile."""
        item = row(self._client, self._table, COLLECTIONS, collection.id)
        return (_collection(item) if item else None) or collection

    def _read(self, collection: Collection) -> VocabularyCopy:
        keys: list[str] = []
        card_ids: list[tuple[str, ...]] = []
        for item in rows(self._client, self._table, KEYS + collection.id, page_rows=_PAGE_ROWS):
            if ids := _card_ids(item):
                keys.append(text_of(item, SORT_KEY))
                card_ids.append(ids)
        return VocabularyCopy(collection.content_generation, keys, card_ids)

    def _is_importing(self, collection: Collection) -> bool:
        """Also for some time after an import that was never ended."""
        return collection.importing_until + _LEASE_MARGIN_S > self._clock.now()

    def _keep(self, collection_id: str, copy: VocabularyCopy) -> None:
        """The copies that were not asked for the longest make room."""
        with self._lock:
            self._kept.pop(collection_id, None)
            self._kept[collection_id] = copy
            while len(self._kept) > 1 and self._is_too_much():
                self._kept.popitem(last=False)

    def _is_too_much(self) -> bool:
        copies = self._kept.values()
        return (
            len(copies) > MAX_COPIES
            or sum(copy.key_count for copy in copies) > MAX_KEPT_KEYS
            or sum(copy.key_bytes for copy in copies) > MAX_KEPT_KEY_BYTES
        )


def _not_in_time() -> Unavailable:
    detail = "The keys of this collection could not be made ready in time. Try again in a few seconds."
    return Unavailable(detail, code="vocabulary_unavailable", retry_after_s=5)


async def _beside(work: Callable[..., T], *args: object) -> T:
    return await asyncio.wrap_future(_MAKING.submit(work, *args))
