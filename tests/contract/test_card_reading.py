"""What the four ports promise through which cards are found: look-ups and vocabularies, each on both lanes."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest

from shared.domain.cards import Card, Collection, CustomerCard, derived_keys, norm
from shared.domain.deadlines import Deadline
from shared.errors import Unavailable
from shared.ports.vocabularies import Vocabularies
from tests.contract.far_ahead import a_change
from tests.contract.worlds import StoreWorld, World
from tests.support.card_builders import a_card, a_collection, an_internal_collection


async def _with(world: World, collection: Collection, *cards: Card) -> Collection:
    await world.card_store().create_collection(collection, a_change())
    for card in cards:
        await world.card_store().create_card(card, a_change())
    return collection


def _turn(seconds: float = 60.0) -> asyncio.Future[Deadline]:
    """Now, and for this long, by a clock that stands still."""
    turn: asyncio.Future[Deadline] = asyncio.get_running_loop().create_future()
    turn.set_result(Deadline(1_000.0 + seconds))
    return turn


async def _occurring(world: World, collection: Collection | str, text: str) -> dict[str, tuple[str, ...]] | None:
    id_ = collection if isinstance(collection, str) else collection.id
    found = await world.vocabularies().occurring(id_, norm(text), turn=_turn())
    return None if found is None else {one.norm_key: one.card_ids for one in found}


# --- look-ups -------------------------------------------------------------------------------------


async def test_both_lanes_find_a_customer_safe_card(world: World) -> None:
    collection = a_collection()
    card, other = a_card(collection, "M4", "m5"), a_card(collection, "m5")
    await _with(world, collection, card, other)
    expected = {"m4": (card.id,), "m5": tuple(sorted((card.id, other.id)))}
    agents, customers = world.card_reader(), world.customer_card_reader()
    assert await agents.ids_by_key(collection.id, ["m4", "m5", "m6"]) == expected
    assert await customers.ids_by_key(collection.id, ["m4", "m5", "m6"]) == expected
    assert await agents.cards(collection.id, [card.id, other.id]) == {card.id: card, other.id: other}
    assert await customers.cards(collection.id, [card.id]) == {card.id: CustomerCard(card)}


async def test_an_agent_only_collection_does_not_exist_for_customers(world: World) -> None:
    collection = an_internal_collection()
    card = a_card(collection, "m4")
    await _with(world, collection, card)
    assert await world.card_reader().ids_by_key(collection.id, ["m4"]) == {"m4": (card.id,)}
    assert await world.card_reader().cards(collection.id, [card.id]) == {card.id: card}
    assert await world.customer_card_reader().ids_by_key(collection.id, ["m4"]) is None
    assert await world.customer_card_reader().cards(collection.id, [card.id]) == {}
    assert await world.customer_vocabularies().occurring(collection.id, "m4", turn=_turn()) is None
    assert await _occurring(world, collection, "m4") == {"m4": (card.id,)}


@pytest.mark.parametrize(
    "collection_id", ["csc_aaaaaaaaaaaaaaaa", "aoc_aaaaaaaaaaaaaaaa", "", "CSC_x", "cs_aaaaaaaaaaaaaaaa"]
)
async def test_unknown_and_malformed_collections_are_nothing(world: World, collection_id: str) -> None:
    for reader in (world.card_reader(), world.customer_card_reader()):
        assert await reader.ids_by_key(collection_id, ["m4"]) is None
    for vocabularies in (world.vocabularies(), world.customer_vocabularies()):
        assert await vocabularies.occurring(collection_id, "m4", turn=_turn()) is None


async def test_a_look_up_of_nothing_finds_nothing(world: World) -> None:
    collection = await _with(world, a_collection())
    assert await world.card_reader().ids_by_key(collection.id, []) == {}
    assert await world.card_reader().cards(collection.id, []) == {}


async def test_more_than_a_batch_of_keys_and_the_same_key_twice(world: World) -> None:
    collection = a_collection()
    card = a_card(collection, *(f"m{number}" for number in range(32)))
    await _with(world, collection, card)
    keys = [f"m{number}" for number in range(150)] * 2
    assert await world.card_reader().ids_by_key(collection.id, keys) == dict.fromkeys(card.norm_keys, (card.id,))
    ids = [card.id, card.id, *(f"crd_{number:a>16}" for number in range(2, 7)), "crd_aaaaaaaaaaaaaaaa"]
    assert await world.card_reader().cards(collection.id, ids) == {card.id: card}


async def test_cards_of_another_collection_are_not_found(world: World) -> None:
    collection, other = a_collection(), a_collection()
    card = a_card(other, "m4")
    await _with(world, collection)
    await _with(world, other, card)
    assert await world.card_reader().ids_by_key(collection.id, ["m4"]) == {}
    assert await world.card_reader().cards(collection.id, [card.id]) == {}
    assert await _occurring(world, collection, "m4") == {}


# --- vocabularies ---------------------------------------------------------------------------------


async def test_every_key_that_occurs_is_told_with_its_cards(world: World) -> None:
    collection = a_collection()
    first, second = a_card(collection, "night ferry", "封蓋"), a_card(collection, "Ferry Pass", "封蓋", "m4")
    await _with(world, collection, first, second)
    both = tuple(sorted((first.id, second.id)))
    text = "A NIGHT  ferry pass; 請檢查封蓋 and m40"
    expected = {"ferry pass": (second.id,), "night ferry": (first.id,), "封蓋": both}
    found = await _occurring(world, collection, text)
    assert found == expected
    assert list(found) == sorted(expected)
    customers = await world.customer_vocabularies().occurring(collection.id, norm(text), turn=_turn())
    assert customers is not None
    assert {one.norm_key: one.card_ids for one in customers} == expected


async def test_a_vocabulary_follows_every_write(world: World) -> None:
    collection = a_collection()
    card = a_card(collection, "m4")
    await _with(world, collection, card)
    vocabularies, store = world.vocabularies(), world.card_store()

    async def keys() -> set[str]:
        found = await vocabularies.occurring(collection.id, "m4 m5 m6", turn=_turn())
        return {one.norm_key for one in found or ()}

    assert await keys() == {"m4"}
    changed = replace(card, keys=("m5",), norm_keys=derived_keys(["m5"]), generation=2)
    await store.replace_card(changed, expected_generation=1, change=a_change())
    assert await keys() == {"m5"}
    lease = await store.begin_import(collection.id, lease_s=30, change=a_change())
    row = a_card(collection, "m4")
    await store.upsert(lease, row)
    assert await keys() == {"m4", "m5"}
    await store.upsert(lease, replace(row, keys=("m6",), norm_keys=("m6",)))
    assert await keys() == {"m5", "m6"}
    await store.end_import(lease, a_change())
    assert await keys() == {"m5", "m6"}
    await store.delete_card(changed, expected_generation=2, change=a_change())
    assert await keys() == {"m6"}
    await store.delete_collection(collection, expected_generation=1, change=a_change())
    assert await vocabularies.occurring(collection.id, "m6", turn=_turn()) is None


async def test_an_import_that_was_killed_leaves_no_stale_copy(world: World) -> None:
    collection = a_collection()
    await _with(world, collection, a_card(collection, "m4"))
    vocabularies, store = world.vocabularies(), world.card_store()

    async def keys() -> set[str]:
        found = await vocabularies.occurring(collection.id, "m4 m5 m6", turn=_turn())
        return {one.norm_key for one in found or ()}

    assert await keys() == {"m4"}
    lease = await store.begin_import(collection.id, lease_s=30, change=a_change())
    assert await keys() == {"m4"}
    await store.upsert(lease, a_card(collection, "m5"))  # and then it is killed
    assert await keys() == {"m4", "m5"}
    world.clock.advance(29)
    await store.upsert(lease, a_card(collection, "m6"))
    assert await keys() == {"m4", "m5", "m6"}
    world.clock.advance(600)
    assert await keys() == {"m4", "m5", "m6"}


# --- the real adapters alone ----------------------------------------------------------------------


@pytest.mark.emulator
async def test_a_copy_is_read_once_for_a_generation_and_not_kept_during_an_import(
    store: StoreWorld, calls: list[str]
) -> None:
    collection = a_collection()
    await _with(store, collection, a_card(collection, "m4"))
    vocabularies = store.vocabularies()
    calls.clear()
    for _ in range(3):
        assert await vocabularies.occurring(collection.id, "m4", turn=_turn())
    assert calls == ["BatchGetItem", "Query", "GetItem", "BatchGetItem", "BatchGetItem"]
    await store.card_store().begin_import(collection.id, lease_s=30, change=a_change())
    calls.clear()
    for _ in range(2):
        assert await vocabularies.occurring(collection.id, "m4", turn=_turn())
    assert calls == ["BatchGetItem", "Query", "GetItem"] * 2


@pytest.mark.emulator
async def test_a_look_up_is_two_batches_and_a_miss_is_one(store: StoreWorld, calls: list[str]) -> None:
    collection = a_collection()
    card = a_card(collection, "m4")
    await _with(store, collection, card)
    reader = store.card_reader()
    calls.clear()
    assert await reader.ids_by_key(collection.id, ["m4", "m5"])
    assert await reader.cards(collection.id, [card.id])
    assert calls == ["BatchGetItem", "BatchGetItem"]
    calls.clear()
    assert await reader.ids_by_key(collection.id, ["m5"]) == {}
    assert await reader.cards(collection.id, []) == {}
    assert calls == ["BatchGetItem"]
    calls.clear()
    assert await store.customer_card_reader().ids_by_key("aoc_aaaaaaaaaaaaaaaa", ["m5"]) is None
    assert await store.customer_vocabularies().occurring("aoc_aaaaaaaaaaaaaaaa", "m5", turn=_turn()) is None
    assert calls == []


@pytest.mark.emulator
async def test_what_the_store_left_unprocessed_is_asked_again(store: StoreWorld) -> None:
    """300 large cards are more than one answer of the store can hold."""
    collection = a_collection()
    await _with(store, collection)
    lease = await store.card_store().begin_import(collection.id, lease_s=30, change=a_change())
    cards = [a_card(collection, f"m{number}", body="卡" * 10_900) for number in range(210)]
    for card in cards:
        await store.card_store().upsert(lease, card)
    found = await store.card_reader().cards(collection.id, [card.id for card in cards])
    assert found.keys() == {card.id for card in cards}


@pytest.mark.emulator
async def test_items_that_do_not_say_customer_safe_themselves_are_not_for_customers(store: StoreWorld) -> None:
    collection = a_collection()
    card = a_card(collection, "m4")
    await _with(store, collection, card)
    reader, vocabularies = store.customer_card_reader(), store.customer_vocabularies()

    def relabel(partition: str, sort: str, value: str) -> None:
        store.clients.dynamodb.update_item(
            TableName=store.cards_table,
            Key={"pk": {"S": partition}, "sk": {"S": sort}},
            UpdateExpression="SET exposure_profile = :value",
            ExpressionAttributeValues={":value": {"S": value}},
        )

    relabel(f"CARD#{collection.id}", card.id, "agent_only")
    assert await reader.cards(collection.id, [card.id]) == {}
    relabel("COLLECTION", collection.id, "agent_only")
    assert await reader.ids_by_key(collection.id, ["m4"]) is None
    assert await vocabularies.occurring(collection.id, "m4", turn=_turn()) is None
    assert await store.card_reader().ids_by_key(collection.id, ["m4"]) is None  # neither the id nor the item is right


@pytest.mark.emulator
async def test_a_large_copy_waits_for_its_turn(store: StoreWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.adapters.vocabulary_copies._SECONDS_PER_KEY_BYTE", 1.0)
    collection = a_collection()
    await _with(store, collection, a_card(collection, "m4"))
    vocabularies = store.vocabularies()
    turn: asyncio.Future[Deadline] = asyncio.get_running_loop().create_future()
    waiting = asyncio.ensure_future(vocabularies.occurring(collection.id, "m4", turn=turn))
    await asyncio.sleep(0.2)
    assert not waiting.done()
    turn.set_result(Deadline(1_002.1))
    assert await waiting
    assert await vocabularies.occurring(collection.id, "m4", turn=asyncio.get_running_loop().create_future())


@pytest.mark.emulator
async def test_a_copy_that_cannot_be_ready_in_time_is_made_for_the_next_one(
    store: StoreWorld, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.adapters.vocabulary_copies._SECONDS_PER_KEY_BYTE", 1.0)
    collection = a_collection()
    await _with(store, collection, a_card(collection, "m4"))
    vocabularies = store.vocabularies()
    calls.clear()
    with pytest.raises(Unavailable) as refusal:
        await vocabularies.occurring(collection.id, "m4", turn=_turn(1.9))
    assert (refusal.value.code, refusal.value.retry_after_s) == ("vocabulary_unavailable", 5)
    async with asyncio.timeout(20):
        while not await _occurs_at_once(vocabularies, collection):
            await asyncio.sleep(0.01)
    assert calls.count("Query") == 1


async def _occurs_at_once(vocabularies: Vocabularies, collection: Collection) -> bool:
    """Without a turn: only a copy that is ready."""
    try:
        async with asyncio.timeout(0.5):
            return bool(await vocabularies.occurring(collection.id, "m4", turn=asyncio.Future()))
    except TimeoutError:
        return False


@pytest.mark.emulator
async def test_reading_goes_on_when_its_caller_gives_up(store: StoreWorld, calls: list[str]) -> None:
    collection = a_collection()
    await _with(store, collection, a_card(collection, "m4"))
    vocabularies, go_on = store.vocabularies(), threading.Event()
    calls.clear()

    def hold(_service: str, operation: str, _asked: object) -> None:
        if operation == "Query":
            go_on.wait(20)

    with store.clients.heard.by(hold):
        for _ in range(3):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await vocabularies.occurring(collection.id, "m4", turn=_turn())
    go_on.set()
    assert await vocabularies.occurring(collection.id, "m4", turn=_turn())
    assert calls.count("Query") == 1


@pytest.mark.emulator
async def test_copies_make_room_for_each_other(
    store: StoreWorld, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.adapters.vocabulary_copies.MAX_KEPT_KEYS", 3)
    first, second, large = a_collection(), a_collection(), a_collection()
    await _with(store, first, a_card(first, "m4"))
    await _with(store, second, a_card(second, "m4"))
    await _with(store, large, a_card(large, "m4", "m5", "m6", "m7"))
    vocabularies = store.vocabularies()
    calls.clear()

    async def reads(collection: Collection) -> int:
        calls.clear()
        assert await vocabularies.occurring(collection.id, "m4", turn=_turn())
        return calls.count("Query")

    assert [await reads(one) for one in (first, second, first, second)] == [1, 1, 0, 0]
    assert [await reads(one) for one in (large, large, first)] == [1, 0, 1]
    assert [await reads(one) for one in (large, first)] == [1, 1]


@pytest.mark.emulator
async def test_two_that_need_the_same_copy_read_it_once(store: StoreWorld, calls: list[str]) -> None:
    collection = a_collection()
    await _with(store, collection, a_card(collection, "m4"))
    vocabularies = store.vocabularies()
    calls.clear()
    await asyncio.gather(*(vocabularies.occurring(collection.id, "m4", turn=_turn()) for _ in range(5)))
    assert calls.count("Query") == 1


@pytest.mark.emulator
async def test_no_write_at_any_moment_leaves_a_stale_copy(store: StoreWorld) -> None:
    """Cards come and go while others match: once a write has returned, every later match knows of it."""
    collection = a_collection()
    await _with(store, collection)
    vocabularies, cards = store.vocabularies(), store.card_store()

    async def write_and_match(number: int) -> None:
        card = a_card(collection, f"m{number}")
        text = card.norm_keys[0]
        for _ in range(4):
            await cards.create_card(card, a_change())
            assert await vocabularies.occurring(collection.id, text, turn=_turn())
            await cards.delete_card(card, expected_generation=1, change=a_change())
            assert not await vocabularies.occurring(collection.id, text, turn=_turn())

    await asyncio.gather(*(write_and_match(number) for number in range(3)))
