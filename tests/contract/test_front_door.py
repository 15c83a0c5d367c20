"""What shows that a request came through the distribution: known by digests, a minute old at most, never admitted by
mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from shared.adapters.front_door import DynamoFrontDoor, digests_of, front_item
from shared.domain.front import FrontDigests, digest_of
from shared.errors import Unavailable
from shared.ports.front_door import FrontDoor
from tests.contract.stubs import StubClient, refusal
from tests.contract.worlds import StoreWorld
from tests.support.fakes import FakeClock
from tests.support.front_fakes import FakeFrontDoor

NEW, OLD = "b" * 64, "a" * 64


@dataclass
class Place:
    """`door` opens one that knows nothing yet; `keep` is what an operator's command does."""

    door: Callable[[], FrontDoor]
    keep: Callable[[FrontDigests | None], None]


def fake_place() -> Place:
    door = FakeFrontDoor()

    def keep(digests: FrontDigests | None) -> None:
        door.digests = digests

    return Place(lambda: door, keep)


def store_place(store: StoreWorld, table: str) -> Place:
    client = store.clients.dynamodb

    def keep(digests: FrontDigests | None) -> None:
        key = {"pk": {"S": "FRONT"}, "sk": {"S": "-"}}
        if digests is None:
            client.delete_item(TableName=table, Key=key)
        else:
            client.put_item(TableName=table, Item=front_item(digests))

    return Place(lambda: DynamoFrontDoor(client, table=table, clock=store.clock), keep)


@pytest.fixture(params=["fake", "public", "internal"])
def place(request: pytest.FixtureRequest) -> Place:
    if request.param == "fake":
        return fake_place()
    store: StoreWorld = request.getfixturevalue("store")
    return store_place(store, store.public_table if request.param == "public" else store.internal_table)


def test_nobody_is_admitted_before_a_value_was_made_known(place: Place) -> None:
    place.keep(None)
    assert not place.door().admits(NEW)
    assert not place.door().admits("")


def test_what_is_shown_is_admitted_and_nothing_else(place: Place) -> None:
    place.keep(FrontDigests(digest_of(NEW)))
    door = place.door()
    assert door.admits(NEW)
    assert not any(door.admits(other) for other in (OLD, "", NEW + " ", NEW.upper(), digest_of(NEW), "\udc80"))


def test_while_the_value_changes_both_are_admitted_and_then_the_new_one_alone(place: Place) -> None:
    place.keep(FrontDigests(digest_of(NEW), digest_of(OLD)))
    assert all(place.door().admits(each) for each in (NEW, OLD))
    place.keep(FrontDigests(digest_of(NEW)))
    assert place.door().admits(NEW)
    assert not place.door().admits(OLD)


ROW = {"Item": front_item(FrontDigests(digest_of(NEW)))}
AWAY = refusal("ProvisionedThroughputExceededException")


def a_door(*answers: Any) -> tuple[DynamoFrontDoor, StubClient, FakeClock]:
    client, clock = StubClient(*answers), FakeClock()
    return DynamoFrontDoor(client, table="t", clock=clock), client, clock  # type: ignore[arg-type]


def test_one_read_serves_half_a_minute() -> None:
    door, client, clock = a_door(ROW)
    for _ in range(3):
        assert door.admits(NEW)
    clock.advance(29)
    assert door.admits(NEW)
    assert client.calls == ["get_item"]
    clock.advance(2)
    assert door.admits(NEW)
    assert len(client.calls) == 2


@pytest.mark.parametrize(("wall", "monotonic"), [(31, 0), (0, 31), (-5, 5)])
def test_either_clock_makes_it_read_anew(wall: float, monotonic: float) -> None:
    door, client, clock = a_door(ROW)
    door.admits(NEW)
    clock.step(wall=wall, monotonic=monotonic)
    door.admits(NEW)
    assert len(client.calls) == 2


def test_what_is_known_holds_out_a_minute_when_the_store_is_away() -> None:
    door, client, clock = a_door(ROW, AWAY)
    door.admits(NEW)
    clock.advance(40)
    assert door.admits(NEW)
    assert not door.admits(OLD)
    assert len(client.calls) == 2, "it is not tried again for each request"
    clock.advance(6)
    assert door.admits(NEW)
    assert len(client.calls) == 3
    clock.advance(15)
    with pytest.raises(Unavailable):
        door.admits(NEW)


def test_a_first_read_that_fails_admits_nobody() -> None:
    door, _, _ = a_door(AWAY)
    with pytest.raises(Unavailable):
        door.admits(NEW)


def test_nothing_is_admitted_any_more_once_the_row_is_gone() -> None:
    door, _, clock = a_door(ROW, {})
    assert door.admits(NEW)
    clock.advance(31)
    assert not door.admits(NEW)


@pytest.mark.parametrize(
    "row",
    [{}, {"current": {"S": ""}}, {"current": {"S": NEW.upper()}}, {"current": {"N": "1"}}, {"previous": {"S": NEW}}],
    ids=["empty", "blank", "capitals", "number", "previous-alone"],
)
def test_a_row_of_another_shape_says_nothing(row: dict[str, Any]) -> None:
    assert digests_of(row) is None


def test_a_previous_digest_of_another_shape_is_none() -> None:
    row = front_item(FrontDigests(digest_of(NEW))) | {"previous": {"S": "x"}}
    assert digests_of(row) == FrontDigests(digest_of(NEW))
