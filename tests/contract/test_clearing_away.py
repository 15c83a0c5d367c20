"""Deleted collections are cleared away whole by the probe function, however large, also when it is killed half way."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from functions.probe.run import Probe
from functions.probe.wiring import wired
from shared.adapters.card_items import CARDS, KEYS, item_of_card
from shared.domain.cards import Card, Collection
from tests.contract.far_ahead import a_change
from tests.contract.worlds import StoreWorld
from tests.support.card_builders import a_card, a_collection, an_internal_collection

pytestmark = [pytest.mark.emulator]

_BATCH = 25


@pytest.fixture
def probe(store: StoreWorld, aws_environment: dict[str, str]) -> Iterator[Probe]:
    parts = wired(aws_environment)
    yield Probe(parts)
    parts.loop.close()


class Context:
    def __init__(self, left_s: float) -> None:
        self.left_s = left_s

    def get_remaining_time_in_millis(self) -> int:
        return round(self.left_s * 1000)


def cleared(probe: Probe, *, left_s: float = 17) -> tuple[object, object]:
    """With too little time left to look at providers, which is tried elsewhere."""
    done = probe.run(Context(left_s))
    assert done["providers"] is None
    return done["finished"], done["isDone"]


def filled(store: StoreWorld, *cards: Card) -> None:
    """Puts cards and their key rows there without a transaction each, which would take minutes."""
    holders: dict[tuple[str, str], list[str]] = {}
    for card in cards:
        for key in card.norm_keys:
            holders.setdefault((KEYS + card.collection_id, key), []).append(card.id)
    items: list[Any] = [item_of_card(card) for card in cards]
    items += [{"pk": {"S": pk}, "sk": {"S": sk}, "cards": {"SS": ids}} for (pk, sk), ids in holders.items()]
    for at in range(0, len(items), _BATCH):
        batch = [{"PutRequest": {"Item": item}} for item in items[at : at + _BATCH]]
        left: Any = store.clients.dynamodb.batch_write_item(RequestItems={store.cards_table: batch})
        assert not left["UnprocessedItems"]


def made(store: StoreWorld, collection: Collection, *cards: Card) -> Collection:
    asyncio.run(store.card_store().create_collection(collection, a_change()))
    filled(store, *cards)
    return collection


def delete(store: StoreWorld, collection: Collection) -> None:
    asyncio.run(store.card_store().delete_collection(collection, expected_generation=1, change=a_change()))


def rows_of(store: StoreWorld, collection: Collection) -> int:
    """Everything in the table that belongs to the collection."""
    pages = store.clients.raw.get_paginator("scan").paginate(TableName=store.cards_table)
    places = [(item["pk"]["S"], item["sk"]["S"]) for page in pages for item in page["Items"]]
    own = (CARDS + collection.id, KEYS + collection.id)
    return sum(pk in own or sk == collection.id for pk, sk in places)


def test_nothing_of_a_deleted_collection_is_left_and_nothing_else_is_touched(store: StoreWorld, probe: Probe) -> None:
    gone, kept = a_collection(), an_internal_collection()
    for collection in (gone, kept):
        made(store, collection, *(a_card(collection, f"key {number}", "shared") for number in range(60)))
    before = rows_of(store, kept)
    delete(store, gone)

    assert cleared(probe) == (1, True)
    assert rows_of(store, gone) == 0
    assert rows_of(store, kept) == before
    assert cleared(probe) == (0, True)


def test_cards_so_large_that_a_page_of_them_ends_early_are_all_cleared(store: StoreWorld, probe: Probe) -> None:
    gone = a_collection()
    made(store, gone, *(a_card(gone, body="x" * 32_768) for _ in range(90)))
    delete(store, gone)

    assert cleared(probe) == (1, True)
    assert rows_of(store, gone) == 0


def test_a_run_without_time_leaves_the_work_to_the_next_one(store: StoreWorld, probe: Probe) -> None:
    gone = a_collection()
    made(store, gone, *(a_card(gone) for _ in range(5)))
    delete(store, gone)

    assert cleared(probe, left_s=8) == (0, False)
    assert rows_of(store, gone) > 0
    assert cleared(probe) == (1, True)


def test_a_store_that_is_away_ends_the_run_and_not_the_function(
    store: StoreWorld, aws_environment: dict[str, str]
) -> None:
    parts = wired(aws_environment | {"KG_TABLE_CARDS": "no-such-table"})

    assert cleared(Probe(parts)) == (0, False)
    parts.loop.close()


@pytest.mark.slow
def test_however_often_it_is_killed_in_the_end_nothing_is_left(
    store: StoreWorld, aws_environment: dict[str, str]
) -> None:
    gone, kept = a_collection(), a_collection()
    made(store, gone, *(a_card(gone, f"a {number}", f"b {number}", f"c {number % 50}") for number in range(1_200)))
    made(store, kept, *(a_card(kept, f"a {number}") for number in range(50)))
    before, left = rows_of(store, kept), [rows_of(store, gone)]
    delete(store, gone)
    for _ in range(4):
        run_and_kill(aws_environment, store, gone)
        left.append(rows_of(store, gone))
    run_to_its_end(aws_environment)

    assert left == sorted(left, reverse=True)
    assert 0 < left[-1] < left[0], "the kills came too late or too early to show anything"
    assert rows_of(store, gone) == 0
    assert rows_of(store, kept) == before


def prober(environment: dict[str, str]) -> subprocess.Popen[bytes]:
    environment = os.environ | environment
    return subprocess.Popen([sys.executable, "-m", "tests.contract.prober"], env=environment, stdout=subprocess.PIPE)


def run_and_kill(environment: dict[str, str], store: StoreWorld, collection: Collection) -> None:
    """Kills it at some moment after it has begun to take rows away."""
    before = first_rows(store, collection)
    process = prober(environment)
    try:
        while first_rows(store, collection) == before:
            assert process.poll() is None
            time.sleep(0.005)
        time.sleep(random.uniform(0, 0.03))
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


def first_rows(store: StoreWorld, collection: Collection) -> list[Any]:
    """What would be taken away next."""
    asked = {"TableName": store.cards_table, "KeyConditionExpression": "pk = :pk", "Limit": 1}
    partitions = (CARDS + collection.id, KEYS + collection.id)
    return [
        store.clients.dynamodb.query(**asked, ExpressionAttributeValues={":pk": {"S": partition}})["Items"]
        for partition in partitions
    ]


def run_to_its_end(environment: dict[str, str]) -> None:
    process = prober(environment)
    process.communicate(timeout=120)
    assert process.returncode == 0
