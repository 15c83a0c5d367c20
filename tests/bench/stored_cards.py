"""What the glossary costs in the store: round trips and capacity of a look-up, and how a match gets its keys."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest
from botocore.config import Config

from shared.adapters import batches, card_rows
from shared.adapters.card_items import KEYS, item_of_card, item_of_collection
from shared.adapters.card_reader import DynamoCardReader
from shared.adapters.clock import SystemClock
from shared.adapters.row_reads import RowReads
from shared.adapters.threads import POOL_SIZE
from shared.adapters.vocabularies import DynamoVocabularies
from shared.adapters.vocabulary_copies import VocabularyCopies
from shared.domain.cards import Collection
from shared.domain.deadlines import Deadline
from shared.domain.matching import MatchWish
from shared.services.look_up import LookUp, LookUpRequest
from shared.services.match import Match, MatchRequest
from tests.bench.cards import MANY, few_of, text_of, words
from tests.bench.measure import Row, interleaved, wall_ms
from tests.support import emulator as backend
from tests.support.card_builders import a_card, a_collection
from tests.support.search_stage import RecordedLog

TERMS = 100
_KEYS_PER_CARD = 20


def rows() -> Iterator[Row]:
    with backend.emulator() as url, pytest.MonkeyPatch.context() as patch:
        environment = backend.provisioned(url, prefix="cards")
        for name, value in environment.items():
            patch.setenv(name, value)
        with asyncio.Runner() as runner:
            yield from _measured(Counted(environment["KG_TABLE_CARDS"]), runner, patch)


def _patient_client() -> Any:
    """The embedded backend takes seconds for a page of a large partition, whatever the page's size."""
    return boto3.client("dynamodb", config=Config(read_timeout=60, max_pool_connections=POOL_SIZE))


@dataclass
class Counted:
    """The cards table, and what reading it costs: batched steps, calls of the store, rows asked for, read capacity.

    The embedded backend does not report the capacity of a batch, so it is reckoned by the service's published rule: a
    strongly consistent read costs a unit for each row asked for, found or not, and one more for each further 4 KiB.
    """

    table: str
    steps: int = 0
    calls: int = 0
    keys: int = 0
    units: int = 0
    client: Any = field(default_factory=_patient_client)

    def __post_init__(self) -> None:
        events = self.client.meta.events
        events.register("provide-client-params.dynamodb.BatchGetItem", self._asked)
        events.register("after-call.dynamodb.BatchGetItem", self._answered)

    def forget(self) -> None:
        self.steps, self.calls, self.keys, self.units = 0, 0, 0, 0

    def _asked(self, params: Mapping[str, Any], **_event: object) -> None:
        self.calls += 1
        self.keys += len(params["RequestItems"][self.table]["Keys"])
        self.units += len(params["RequestItems"][self.table]["Keys"])

    def _answered(self, parsed: Mapping[str, Any], **_event: object) -> None:
        self.units += sum(max(0, math.ceil(_bytes_of(item) / 4_096) - 1) for item in parsed["Responses"][self.table])

    def fill(self, terms: Sequence[str], others: Sequence[str] = ()) -> Collection:
        """A collection with a card for each term, and the other keys on cards of twenty, as writes leave them."""
        collection = a_collection()
        slices = [[term] for term in terms]
        slices += [list(others[at : at + _KEYS_PER_CARD]) for at in range(0, len(others), _KEYS_PER_CARD)]
        items: list[Any] = [item_of_collection(collection)]
        for keys in slices:
            card = a_card(collection, *keys)
            items.append(item_of_card(card))
            partition = {"S": KEYS + collection.id}
            items += [{"pk": partition, "sk": {"S": key}, "cards": {"SS": [card.id]}} for key in card.norm_keys]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(self._write, [items[at : at + 25] for at in range(0, len(items), 25)]))
        return collection

    def _write(self, items: Sequence[Any]) -> None:
        left = {self.table: [{"PutRequest": {"Item": item}} for item in items]}
        while left:
            left = self.client.batch_write_item(RequestItems=left).get("UnprocessedItems") or {}


def _bytes_of(value: Any) -> int:
    """An item's size as the service counts it, near enough: names and texts in UTF-8, a few bytes around each."""
    if isinstance(value, Mapping):
        return sum(len(name.encode()) + 3 + _bytes_of(member) for name, member in value.items())
    if isinstance(value, list):
        return 3 + sum(1 + _bytes_of(member) for member in value)
    return len(str(value).encode())


def _measured(store: Counted, runner: asyncio.Runner, patch: pytest.MonkeyPatch) -> Iterator[Row]:
    rows_at, log = batches.rows_at, RecordedLog()

    async def counted(*args: Any) -> Any:
        store.steps += 1
        return await rows_at(*args)

    patch.setattr(card_rows, "rows_at", counted)
    many = words(MANY)
    terms = many[:: MANY // TERMS]
    small, large = store.fill(terms), store.fill(terms, sorted(set(many) - set(terms)))
    reader = DynamoCardReader(store.client, table=store.table)
    look_up = LookUp(cards=reader, clock=SystemClock(), logger=log)  # type: ignore[arg-type]

    def looking_up(collection: Collection) -> Callable[[], float]:
        request = LookUpRequest(
            collection_id=collection.id, terms=terms, deadline=Deadline(time.monotonic() + 3_600), request_id="bench"
        )
        return lambda: wall_ms(lambda: runner.run(look_up(request, admission=_admitted())))

    yield from _costs(store, looking_up(small), looking_up(large))
    ours, baseline = interleaved(looking_up(large), looking_up(small))
    yield Row("cards: look up 100 terms, 100,000 keys / 100 keys", ours, baseline, "ms", 1.5, "on the embedded backend")
    few = few_of(many)
    yield from _matches(store, runner, reader, text=text_of(few, many), few=store.fill([], few), many=large)


def _costs(store: Counted, small: Callable[[], float], large: Callable[[], float]) -> Iterator[Row]:
    costs = []
    for look_up in (large, small):
        store.forget()
        look_up()
        costs.append((store.steps, store.calls, store.keys, store.units))
    (steps, calls, keys, units), (_, _, _, small_units) = costs
    assert 0 < steps <= calls, costs  # trips that nobody counts would hold every bar
    note = f"{calls} calls for {keys} rows, those of one trip at the same time"
    yield Row("cards: look up 100 terms, batched round trips", steps, 2, "", 1.0, note)
    yield Row(
        "cards: look up 100 terms, capacity 100,000 / 100 keys", units, small_units, "RCU", 1.0, "100 hits in both"
    )


def _matches(
    store: Counted, runner: asyncio.Runner, reader: DynamoCardReader, *, text: str, few: Collection, many: Collection
) -> Iterator[Row]:
    clock = SystemClock()

    copies = VocabularyCopies(store.client, table=store.table, clock=clock)
    vocabularies = DynamoVocabularies(RowReads(store.client), table=store.table, copies=copies)
    match = Match(vocabularies=vocabularies, cards=reader, clock=clock, logger=RecordedLog())  # type: ignore[arg-type]

    def matching(collection: Collection) -> Callable[[], float]:
        request = MatchRequest(
            collection_id=collection.id,
            wish=MatchWish(text=text),
            deadline=Deadline(clock.monotonic() + 3_600),
            request_id="bench",
        )
        return lambda: wall_ms(lambda: runner.run(match(request, admission=_admitted())))

    ours, baseline = interleaved(matching(many), matching(few))
    yield Row("cards: match 2 KB, reads included, 100,000 / 1,000 keys", ours, baseline, "ms", 2.5, "warm")


async def _admitted() -> None:
    return None
