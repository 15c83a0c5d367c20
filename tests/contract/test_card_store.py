"""What `ports.card_store.CardStore` promises."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from shared.domain import cards as card_rules
from shared.domain.cards import MAX_CARDS_PER_KEY, Card, Collection, card_id_of_row, derived_keys
from shared.domain.exposure import ExposureProfile
from shared.errors import Conflict, NotFound, PreconditionFailed
from shared.ports.card_store import CardStore, Upserted
from tests.contract.far_ahead import NOW, a_change, an_idempotency_record
from tests.contract.worlds import World
from tests.support.card_builders import a_card, a_collection, an_internal_collection


async def _created(world: World, collection: Collection | None = None) -> Collection:
    collection = collection or a_collection()
    await world.card_store().create_collection(collection, a_change())
    return collection


async def _with_card(world: World, *keys: str, **over: Any) -> Card:
    card = a_card(await _created(world), *keys, **over)
    await world.card_store().create_card(card, a_change())
    return card


async def _now(world: World, collection_id: str) -> Collection:
    found = await world.card_store().collection(collection_id)
    assert found is not None
    return found


async def _found(world: World, collection_id: str, *keys: str) -> dict[str, set[str]]:
    """Card ids by key, as a look-up finds them."""
    ids = await world.card_reader().ids_by_key(collection_id, keys)
    assert ids is not None
    return {key: set(of_key) for key, of_key in ids.items()}


async def _refusal(work: Any) -> str:
    with pytest.raises(Conflict) as refusal:
        await work
    return refusal.value.code


def _changed(card: Card, *keys: str, **over: Any) -> Card:
    keys = keys or card.keys
    return replace(card, keys=keys, norm_keys=derived_keys(keys), generation=card.generation + 1, **over)


# --- collections ----------------------------------------------------------------------------------


async def test_a_collection_is_read_back(world: World) -> None:
    for collection in (a_collection(name="Nachtfähre 渡轮卡", created_at=NOW + 0.125), an_internal_collection()):
        await _created(world, collection)
        assert await world.card_store().collection(collection.id) == collection


@pytest.mark.parametrize("collection_id", ["csc_aaaaaaaaaaaaaaaa", "aoc_aaaaaaaaaaaaaaaa", "", "cs_aaaaaaaaaaaaaaaa"])
async def test_unknown_and_malformed_ids_are_nothing(world: World, collection_id: str) -> None:
    assert await world.card_store().collection(collection_id) is None
    assert await world.card_store().card(collection_id, "crd_aaaaaaaaaaaaaaaa") is None


async def test_a_name_is_taken_once_for_an_exposure_profile_whatever_its_case(world: World) -> None:
    await _created(world, a_collection(name="Straße"))
    for name in ("STRASSE", "straße\u200b", "\u00a0Straße", "Ｓtraße"):
        again = a_collection(name=name)
        assert await _refusal(world.card_store().create_collection(again, a_change())) == "name_taken"
    assert await world.card_store().collection(again.id) is None
    await _created(world, an_internal_collection(name="Straße"))


async def test_an_id_is_taken_once(world: World) -> None:
    collection = await _created(world)
    again = replace(collection, name="Another name")
    assert await _refusal(world.card_store().create_collection(again, a_change())) == "id_taken"


async def test_an_id_of_the_other_exposure_profile_is_refused(world: World) -> None:
    mixed = replace(a_collection(), exposure_profile=ExposureProfile.AGENT_ONLY)
    with pytest.raises(ValueError, match="exposure"):
        await world.card_store().create_collection(mixed, a_change())


async def test_a_new_name_frees_the_old_one_and_leaves_the_cards_alone(world: World) -> None:
    store = world.card_store()
    card = await _with_card(world, "m4")
    before = await _now(world, card.collection_id)
    renamed = replace(before, name="Bolts", generation=2, updated_at=NOW + 5, card_count=99, content_generation=99)
    await store.replace_collection(renamed, expected_generation=1, change=a_change())
    after = await _now(world, card.collection_id)
    assert after == replace(before, name="Bolts", generation=2, updated_at=NOW + 5)
    await _created(world, a_collection(name=before.name))
    assert await _refusal(store.create_collection(a_collection(name="bolts"), a_change())) == "name_taken"


async def test_a_collection_keeps_its_name_in_another_case(world: World) -> None:
    collection = await _created(world, a_collection(name="Bolts"))
    shouted = replace(collection, name="BOLTS", generation=2)
    await world.card_store().replace_collection(shouted, expected_generation=1, change=a_change())
    assert (await _now(world, collection.id)).name == "BOLTS"


async def test_a_change_of_an_older_generation_is_refused(world: World) -> None:
    store, collection = world.card_store(), await _created(world)
    second = replace(collection, name="Second", generation=2)
    await store.replace_collection(second, expected_generation=1, change=a_change())
    with pytest.raises(PreconditionFailed):
        await store.replace_collection(replace(second, name="Third"), expected_generation=1, change=a_change())
    with pytest.raises(PreconditionFailed):
        await store.delete_collection(collection, expected_generation=1, change=a_change())
    assert await _now(world, collection.id) == second


async def test_what_is_not_there_cannot_be_changed(world: World) -> None:
    store, collection = world.card_store(), a_collection(generation=2)
    card = a_card(collection, generation=2)
    for work in (
        store.replace_collection(collection, expected_generation=1, change=a_change()),
        store.delete_collection(collection, expected_generation=2, change=a_change()),
        store.create_card(card, a_change()),
        store.replace_card(card, expected_generation=1, change=a_change()),
        store.delete_card(card, expected_generation=2, change=a_change()),
        store.begin_import(collection.id, lease_s=30, change=a_change()),
    ):
        with pytest.raises(NotFound):
            await work
    assert (await world.audit_log().page(limit=10, after=None)).items == ()


async def test_collections_are_listed_by_id_over_both_profiles_a_page_at_a_time(world: World) -> None:
    made = [await _created(world, make()) for make in (a_collection, an_internal_collection) * 3]
    gone = await _created(world)
    await world.card_store().delete_collection(gone, expected_generation=1, change=a_change())
    listed: list[Collection] = []
    after = None
    while True:
        page = await world.card_store().collections(limit=4, after=after)
        listed += page.items
        if (after := page.next_after) is None:
            break
    assert listed == sorted(made, key=lambda one: one.id)


# --- cards ----------------------------------------------------------------------------------------


async def test_a_card_is_read_back_and_found_under_each_derived_key(world: World) -> None:
    card = await _with_card(world, "Ｍ４", "Night  Ferry", "ẞ\u0323", body="# Bolt\n\n卡")
    assert await world.card_store().card(card.collection_id, card.id) == card
    assert await _found(world, card.collection_id, *card.norm_keys, "absent") == {k: {card.id} for k in card.norm_keys}
    assert (await _now(world, card.collection_id)).card_count == 1


async def test_one_key_may_have_many_cards_and_one_card_many_keys(world: World) -> None:
    collection = await _created(world)
    both, first, second = (a_card(collection, *keys) for keys in (("m4", "m5"), ("m4",), ("m5",)))
    for card in (both, first, second):
        await world.card_store().create_card(card, a_change())
    found = await _found(world, collection.id, "m4", "m5")
    assert found == {"m4": {both.id, first.id}, "m5": {both.id, second.id}}


async def test_a_changed_card_is_found_under_its_new_keys_alone(world: World) -> None:
    card = await _with_card(world, "m4", "m5")
    other = a_card(card.collection_id, "m5", "m6")
    await world.card_store().create_card(other, a_change())
    changed = _changed(card, "m5", "m7", title="New")
    await world.card_store().replace_card(changed, expected_generation=1, change=a_change())
    assert await world.card_store().card(card.collection_id, card.id) == changed
    found = await _found(world, card.collection_id, "m4", "m5", "m6", "m7")
    assert found == {"m5": {card.id, other.id}, "m6": {other.id}, "m7": {card.id}}
    assert (await _now(world, card.collection_id)).card_count == 2


async def test_a_deleted_card_is_gone_from_each_key(world: World) -> None:
    card = await _with_card(world, "m4", "m5")
    other = a_card(card.collection_id, "m5")
    await world.card_store().create_card(other, a_change())
    await world.card_store().delete_card(card, expected_generation=1, change=a_change())
    assert await world.card_store().card(card.collection_id, card.id) is None
    assert await _found(world, card.collection_id, "m4", "m5") == {"m5": {other.id}}
    assert (await _now(world, card.collection_id)).card_count == 1


async def test_every_write_of_a_card_moves_the_content_and_not_the_collections_own_generation(world: World) -> None:
    card = await _with_card(world, "m4")
    store, seen = world.card_store(), [(await _now(world, card.collection_id)).content_generation]
    changed = _changed(card, body="New")
    for work in (
        store.replace_card(changed, expected_generation=1, change=a_change()),
        store.delete_card(changed, expected_generation=2, change=a_change()),
    ):
        await work
        seen.append((await _now(world, card.collection_id)).content_generation)
    assert seen == [2, 3, 4]
    assert (await _now(world, card.collection_id)).generation == 1


async def test_of_two_changes_from_one_version_the_second_is_refused_and_leaves_nothing(world: World) -> None:
    card = await _with_card(world, "m4")
    await world.card_store().replace_card(_changed(card, "m5"), expected_generation=1, change=a_change())
    with pytest.raises(PreconditionFailed):
        await world.card_store().replace_card(_changed(card, "m6"), expected_generation=1, change=a_change())
    with pytest.raises(PreconditionFailed):
        await world.card_store().delete_card(card, expected_generation=1, change=a_change())
    assert await _found(world, card.collection_id, "m4", "m5", "m6") == {"m5": {card.id}}
    assert len((await world.audit_log().page(limit=10, after=None)).items) == 3


async def test_a_generation_moves_by_exactly_one(world: World) -> None:
    card = await _with_card(world, "m4")
    with pytest.raises(ValueError, match="plus one"):
        await world.card_store().replace_card(replace(card, generation=3), expected_generation=1, change=a_change())


async def test_a_cards_id_is_taken_once(world: World) -> None:
    card = await _with_card(world, "m4")
    assert await _refusal(world.card_store().create_card(replace(card, title="Twin"), a_change())) == "id_taken"


async def test_a_card_with_as_many_keys_as_there_may_be_is_replaced_by_another_such_card(world: World) -> None:
    most = card_rules.MAX_DERIVED_KEYS
    card = await _with_card(world, *(f"old {number}" for number in range(most)))
    changed = _changed(card, *(f"new {number}" for number in range(most)))
    idempotency = an_idempotency_record()
    await world.card_store().replace_card(changed, expected_generation=1, change=a_change(idempotency=idempotency))
    assert len(await _found(world, card.collection_id, *card.norm_keys, *changed.norm_keys)) == most


async def test_a_repeated_request_is_refused_whole(world: World) -> None:
    collection, record = await _created(world), an_idempotency_record()
    await world.card_store().create_card(a_card(collection, "m4"), a_change(idempotency=record))
    twin = a_card(collection, "m5")
    work = world.card_store().create_card(twin, a_change(idempotency=record))
    assert await _refusal(work) == "idempotency_key_used"
    assert await world.card_store().card(collection.id, twin.id) is None
    assert await _found(world, collection.id, "m5") == {}
    assert await world.idempotency().find(record.key) == record


async def test_a_key_takes_only_so_many_cards(quick_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world = quick_world
    collection = await _created(world)
    for _ in range(MAX_CARDS_PER_KEY):
        last = a_card(collection, "m4")
        await world.card_store().create_card(last, a_change())
    one_more = a_card(collection, "m4", "m5")
    assert await _refusal(world.card_store().create_card(one_more, a_change())) == "key_full"
    assert await _found(world, collection.id, "m5") == {}
    await world.card_store().replace_card(_changed(last, body="New"), expected_generation=1, change=a_change())
    await world.card_store().delete_card(replace(last, generation=2), expected_generation=2, change=a_change())
    await world.card_store().create_card(one_more, a_change())


@pytest.mark.parametrize(
    ("limit", "most"),
    [("MAX_CARDS_PER_COLLECTION", 2), ("MAX_KEYS_PER_COLLECTION", 3), ("MAX_KEY_BYTES_PER_COLLECTION", 6)],
)
async def test_a_collection_takes_only_so_much(
    world: World, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    for module in ("shared.adapters.card_parts", "tests.support.card_fakes"):
        monkeypatch.setattr(f"{module}.{limit}", most)
    collection = await _created(world)
    first, second, third = (a_card(collection, key) for key in ("m1", "m2", "m3"))
    await world.card_store().create_card(first, a_change())
    await world.card_store().create_card(second, a_change())
    work = [a_card(collection, "m3", "m4"), a_card(collection, "m5", "m6")]
    assert await _refusal(world.card_store().create_card(work[0], a_change())) == "collection_full"
    await world.card_store().delete_card(first, expected_generation=1, change=a_change())
    await world.card_store().create_card(third, a_change())
    changed = _changed(third, "m7")  # no larger than before
    await world.card_store().replace_card(changed, expected_generation=1, change=a_change())
    assert await _refusal(world.card_store().create_card(work[1], a_change())) == "collection_full"


async def test_cards_are_listed_by_id_a_page_at_a_time_and_none_of_another_collection(world: World) -> None:
    collection, other = await _created(world), await _created(world)
    made = [a_card(collection, f"m{number}") for number in range(7)]
    for card in (*made, a_card(other, "m1")):
        await world.card_store().create_card(card, a_change())
    listed: list[Card] = []
    after = None
    while True:
        page = await world.card_store().cards(collection.id, limit=3, after=after)
        assert len(page.items) <= 3
        listed += page.items
        if (after := page.next_after) is None:
            break
    assert listed == sorted(made, key=lambda one: one.id)
    some = await world.card_store().cards_with(collection.id, [made[0].id, made[3].id, "crd_aaaaaaaaaaaaaaaa"])
    assert some == {made[0].id: made[0], made[3].id: made[3]}
    assert await world.card_store().cards_with(collection.id, []) == {}


async def test_large_cards_are_listed_to_the_last_one(world: World) -> None:
    """A page of the store ends after a megabyte, whatever its limit."""
    collection = await _created(world)
    keys = [[f"{number} {place} ".ljust(200, "卡") for place in range(32)] for number in range(12)]
    for of_card in keys:
        card = a_card(collection, *of_card, body="卡" * 10_900)
        await world.card_store().create_card(card, a_change())
    page = await world.card_store().cards(collection.id, limit=11, after=None)
    rest = await world.card_store().cards(collection.id, limit=11, after=page.next_after)
    assert (len(page.items), len(rest.items), rest.next_after) == (11, 1, None)


# --- imports --------------------------------------------------------------------------------------


async def test_rows_of_an_import_are_created_changed_or_left_alone(world: World) -> None:
    store, collection = world.card_store(), await _created(world)
    row = a_card(collection, "m4", "m5", id=card_id_of_row(collection.id, "row 1"), body="One")
    lease = await store.begin_import(collection.id, lease_s=30, change=a_change())
    assert await store.upsert(lease, row) is Upserted.CREATED
    assert await store.upsert(lease, row) is Upserted.UNCHANGED
    world.clock.advance(1)
    changed = replace(row, keys=("m5", "m6"), norm_keys=("m5", "m6"), body="Two")
    assert await store.upsert(lease, changed) is Upserted.UPDATED
    await store.end_import(lease, a_change())
    kept = await store.card(collection.id, row.id)
    assert kept is not None
    assert (kept.body, kept.generation, kept.created_at, kept.updated_at) == ("Two", 2, NOW, NOW + 1)
    assert await _found(world, collection.id, "m4", "m5", "m6") == {"m5": {row.id}, "m6": {row.id}}
    assert (await _now(world, collection.id)).card_count == 1


async def test_an_import_moves_the_content_generation_once(world: World) -> None:
    store, collection = world.card_store(), await _created(world)
    lease = await store.begin_import(collection.id, lease_s=30, change=a_change())
    running = await _now(world, collection.id)
    assert (running.content_generation, running.importing_until) == (2, NOW + 30)
    for number in range(3):
        await store.upsert(lease, a_card(collection, f"m{number}"))
    await store.end_import(lease, a_change())
    after = await _now(world, collection.id)
    assert (after.content_generation, after.importing_until, after.card_count) == (2, 0.0, 3)


async def test_one_import_at_a_time(world: World) -> None:
    store, collection = world.card_store(), await _created(world)
    first = await store.begin_import(collection.id, lease_s=30, change=a_change())
    with pytest.raises(Conflict) as refusal:
        await store.begin_import(collection.id, lease_s=30, change=a_change())
    assert refusal.value.code == "import_running"
    assert refusal.value.retry_after_s in (1, 2)  # as long as an import usually takes, not the rest of its lease
    await store.end_import(first, a_change())
    await store.begin_import(collection.id, lease_s=30, change=a_change())


async def test_an_import_that_took_too_long_writes_no_more(world: World) -> None:
    store, collection = world.card_store(), await _created(world)
    slow = await store.begin_import(collection.id, lease_s=30, change=a_change())
    world.clock.advance(30)
    assert await _refusal(store.upsert(slow, a_card(collection, "m4"))) == "import_ended"
    await store.begin_import(collection.id, lease_s=30, change=a_change())
    assert await _refusal(store.upsert(slow, a_card(collection, "m4"))) == "import_ended"
    assert await _refusal(store.end_import(slow, a_change())) == "import_ended"
    assert await _found(world, collection.id, "m4") == {}


async def test_an_import_that_has_run_out_may_still_be_ended(world: World) -> None:
    store, collection = world.card_store(), await _created(world)
    slow = await store.begin_import(collection.id, lease_s=30, change=a_change())
    world.clock.advance(60)
    await store.end_import(slow, a_change())
    assert (await _now(world, collection.id)).importing_until == 0.0


async def test_single_cards_may_be_written_while_an_import_runs(world: World) -> None:
    store, collection = world.card_store(), await _created(world)
    lease = await store.begin_import(collection.id, lease_s=30, change=a_change())
    await store.create_card(a_card(collection, "m4"), a_change())
    await store.upsert(lease, a_card(collection, "m5"))
    after = await _now(world, collection.id)
    assert (after.card_count, after.content_generation, after.importing_until) == (2, 3, NOW + 30)


# --- deleting -------------------------------------------------------------------------------------


async def _buried(world: World, cards: int) -> Collection:
    collection = await _created(world)
    for number in range(cards):
        await world.card_store().create_card(a_card(collection, f"m{number}", "shared"), a_change())
    await world.card_store().delete_collection(collection, expected_generation=1, change=a_change())
    return collection


async def test_a_deleted_collection_is_gone_at_once_and_takes_no_more_writes(world: World) -> None:
    store, gone = world.card_store(), await _buried(world, 2)
    assert await store.collection(gone.id) is None
    assert await world.card_reader().ids_by_key(gone.id, ["shared"]) is None
    card = a_card(gone, "m9")
    for work in (
        store.create_card(card, a_change()),
        store.begin_import(gone.id, lease_s=30, change=a_change()),
        store.replace_collection(replace(gone, generation=2), expected_generation=1, change=a_change()),
        store.delete_collection(gone, expected_generation=1, change=a_change()),
    ):
        with pytest.raises(NotFound):
            await work
    await _created(world, a_collection(name=gone.name))


async def test_an_import_into_a_collection_that_is_deleted_meanwhile_ends(world: World) -> None:
    store, collection = world.card_store(), await _created(world)
    lease = await store.begin_import(collection.id, lease_s=30, change=a_change())
    await store.delete_collection(collection, expected_generation=1, change=a_change())
    with pytest.raises(NotFound):
        await store.upsert(lease, a_card(collection, "m4"))
    with pytest.raises(NotFound):
        await store.end_import(lease, a_change())


async def test_sweeping_clears_a_deleted_collection_away_step_by_step(world: World) -> None:
    store, gone, kept = world.card_store(), await _buried(world, 7), await _with_card(world, "shared")
    assert await store.deleting(limit=10) == (gone.id,)
    steps = 1
    while not await store.sweep(gone.id, limit=4):
        steps += 1
    assert steps > 1
    assert await store.deleting(limit=10) == ()
    assert (await store.cards(gone.id, limit=10, after=None)).items == ()
    assert await store.sweep(gone.id, limit=4)
    assert await _found(world, kept.collection_id, "shared") == {"shared": {kept.id}}


async def test_what_is_not_being_deleted_is_never_swept(world: World) -> None:
    card = await _with_card(world, "m4")
    with pytest.raises(ValueError, match="not being deleted"):
        await world.card_store().sweep(card.collection_id, limit=10)
    assert await _found(world, card.collection_id, "m4") == {"m4": {card.id}}


async def test_several_deleted_collections_wait_their_turn(world: World) -> None:
    gone = sorted([(await _buried(world, 1)).id for _ in range(3)])
    assert await world.card_store().deleting(limit=2) == tuple(gone[:2])


# --- several at once ------------------------------------------------------------------------------


async def _outcomes(*work: Any) -> list[str]:
    results = await asyncio.gather(*work, return_exceptions=True)
    return sorted("written" if result is None else type(result).__name__ for result in results)


async def test_of_two_editors_at_once_one_wins_and_nothing_is_half_indexed(quick_world: World) -> None:
    world = quick_world
    for _ in range(8):
        card = await _with_card(world, "old")
        stores: list[CardStore] = [world.card_store(), world.card_store()]
        work = [
            store.replace_card(_changed(card, key, "both"), expected_generation=1, change=a_change())
            for store, key in zip(stores, ("left", "right"), strict=True)
        ]
        assert await _outcomes(*work) == ["PreconditionFailed", "written"]
        kept = await world.card_store().card(card.collection_id, card.id)
        assert kept is not None
        found = await _found(world, card.collection_id, "old", "left", "right", "both")
        assert found == {key: {card.id} for key in kept.norm_keys}


async def test_cards_of_one_key_that_come_and_go_at_once_leave_the_key_right(quick_world: World) -> None:
    world = quick_world
    for _ in range(5):
        collection = await _created(world)
        leaving = [a_card(collection, "shared", f"own {number}") for number in range(3)]
        coming = [a_card(collection, "shared") for _ in range(3)]
        for card in leaving:
            await world.card_store().create_card(card, a_change())
        work = [world.card_store().delete_card(card, expected_generation=1, change=a_change()) for card in leaving]
        work += [world.card_store().create_card(card, a_change()) for card in coming]
        outcomes = await _outcomes(*work)
        assert set(outcomes) <= {"written", "Conflict"}  # busy, where all tries met others
        listed = (await world.card_store().cards(collection.id, limit=10, after=None)).items
        assert await _found(world, collection.id, "shared") == {"shared": {card.id for card in listed}}
        own = await _found(world, collection.id, *(f"own {number}" for number in range(3)))
        assert own == {card.norm_keys[0]: {card.id} for card in listed if len(card.norm_keys) == 2}
        assert (await _now(world, collection.id)).card_count == len(listed)
