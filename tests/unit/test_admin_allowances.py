"""Allowances, as operators see and set them: counts of the gateway's own operations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from shared.domain.allowances import slot_of
from shared.domain.pools import Pool
from shared.errors import Unavailable
from tests.support.admin_stage import AUDIT, AdminStage, Answered
from tests.support.builders import NOW

ALLOWANCES = "/api/v1/knowledge/allowances"


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage()
    yield stage
    stage.close()


def put(
    stage: AdminStage, limit: object, *, if_match: str | None = '"0"', pool: str = "exa", **review: int
) -> Answered:
    body = {"limit": limit, "review": review} if review else {"limit": limit}
    return stage.call("PUT", f"{ALLOWANCES}/{pool}", body, if_match=if_match)


def reserve(stage: AdminStage, count: int, *, confirmed: int = 0) -> None:
    """Makes so many reservations, and confirms the first of them."""
    for number in range(count):
        reservation = stage.loop.run(stage.allowances.reserve(Pool.EXA))
        if number < confirmed:
            stage.loop.run(stage.allowances.confirm(reservation))


def test_each_service_begins_with_its_default(stage: AdminStage) -> None:
    shown = stage.call("GET", ALLOWANCES).json["allowances"]

    assert {each["pool"]: each["limit"] for each in shown} == {
        "context7": 1_000,
        "exa": 1_000,
        "firecrawl": 1_000,
        "mintlify": 800,
        "deepwiki": 1_000,
    }
    assert shown[1] == {
        "pool": "exa",
        "state": "open",
        "limit": 1_000,
        "used": 0,
        "confirmed": 0,
        "reserved": 0,
        "unknown": 0,
        "unknownShare": 0.0,
        "freeAgainAt": None,
        "generation": 0,
    }


def test_what_was_made_is_under_way_and_is_unknown_is_told_apart(stage: AdminStage) -> None:
    reserve(stage, 5, confirmed=2)
    stage.clock.advance(61)
    reserve(stage, 1)
    shown = stage.call("GET", f"{ALLOWANCES}/exa")

    assert (shown.status, shown.etag) == (200, '"0"')
    assert [shown.json[name] for name in ("used", "confirmed", "reserved", "unknown")] == [6, 2, 1, 3]
    assert (shown.json["unknownShare"], shown.json["state"]) == (0.003, "open")


def test_an_exhausted_allowance_says_when_time_frees_an_operation(stage: AdminStage) -> None:
    stage.allowances.set_limit(Pool.EXA, 2)
    reserve(stage, 2, confirmed=2)
    shown = stage.call("GET", f"{ALLOWANCES}/exa").json

    assert (shown["state"], shown["used"]) == ("exhausted", 2)
    assert shown["freeAgainAt"] == "2026-09-22T14:30:00.000Z"


def test_where_only_a_review_helps_no_time_is_promised(stage: AdminStage) -> None:
    stage.allowances.set_limit(Pool.EXA, 2)
    reserve(stage, 2)
    stage.clock.advance(61)
    shown = stage.call("GET", f"{ALLOWANCES}/exa").json

    assert (shown["state"], shown["freeAgainAt"], shown["unknownShare"]) == ("exhausted", None, 1.0)


def test_a_limit_of_nothing_closes_the_pool(stage: AdminStage) -> None:
    closed = put(stage, 0)

    assert (closed.status, closed.json["state"], closed.json["freeAgainAt"]) == (200, "closed", None)


def test_an_operator_sets_the_limit(stage: AdminStage) -> None:
    changed = put(stage, 2_000)

    assert (changed.status, changed.etag, changed.json["limit"], changed.json["generation"]) == (200, '"1"', 2_000, 1)
    assert stage.call("GET", f"{ALLOWANCES}/exa").json == changed.json
    assert put(stage, 100_000, if_match=changed.etag).json["limit"] == 100_000


def test_reviewed_operations_are_settled(stage: AdminStage) -> None:
    reserve(stage, 5)
    stage.clock.advance(61)
    reviewed = put(stage, 1_000, happened=2, didNotHappen=1)

    assert [reviewed.json[name] for name in ("used", "confirmed", "unknown")] == [4, 2, 2]


def test_more_than_is_unknown_cannot_be_reviewed(stage: AdminStage) -> None:
    reserve(stage, 2)  # still under way
    refused = put(stage, 1_000, happened=1)

    assert (refused.status, refused.code) == (409, "nothing_unknown")
    assert stage.call("GET", f"{ALLOWANCES}/exa").etag == '"0"'


def test_a_change_names_the_version_that_it_is_meant_for(stage: AdminStage) -> None:
    assert put(stage, 5, if_match=None).code == "precondition_required"
    assert put(stage, 5, if_match="*").code == "precondition_required"
    assert put(stage, 5, if_match='"1"').code == "precondition_failed"
    assert put(stage, 5, if_match="0").code == "invalid_if_match"
    assert put(stage, 5).status == 200
    assert put(stage, 6).code == "precondition_failed"


def test_a_change_that_changes_nothing_writes_nothing(stage: AdminStage) -> None:
    same = put(stage, 1_000)
    empty = put(stage, 1_000, happened=0, didNotHappen=0)

    assert (same.status, same.etag, empty.etag, stage.store.audit) == (200, '"0"', '"0"', {})


def test_what_was_changed_is_audited(stage: AdminStage) -> None:
    reserve(stage, 3)
    stage.clock.advance(61)
    put(stage, 500, happened=2, didNotHappen=1)
    (entry,) = stage.call("GET", AUDIT).json["entries"]

    assert (entry["action"], entry["resource"], entry["actor"]) == ("allowance.changed", "allowance/exa", "root")
    assert (entry["generationBefore"], entry["generationAfter"]) == (0, 1)
    assert entry["before"] == {"limit": 1_000, "unknown": 3}
    assert entry["after"] == {"limit": 500, "unknown": 0, "happened": 2, "didNotHappen": 1}


def test_units_that_left_after_a_day_are_not_shown(stage: AdminStage) -> None:
    old = stage.allowances.of(Pool.EXA)
    stage.allowances.all[Pool.EXA] = replace(old, slots={slot_of(NOW - 90_000): 7, slot_of(NOW - 80_000): 2})

    assert stage.call("GET", f"{ALLOWANCES}/exa").json["confirmed"] == 2


@pytest.mark.parametrize("method", ["GET", "PUT"])
@pytest.mark.parametrize("pool", ["wiki", "EXA", "alexandria", "x" * 300])
def test_an_unknown_pool_is_not_found(stage: AdminStage, method: str, pool: str) -> None:
    body = {"limit": 5} if method == "PUT" else None

    assert stage.call(method, f"{ALLOWANCES}/{pool}", body, if_match='"0"').status == 404


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/limit"),
        ({"limit": -1}, "/limit"),
        ({"limit": 100_001}, "/limit"),
        ({"limit": "5"}, "/limit"),
        ({"limit": None}, "/limit"),
        ({"limit": 5, "used": 0}, "/used"),
        ({"limit": 5, "review": {"happened": -1}}, "/review/happened"),
        ({"limit": 5, "review": {"did_not_happen": 1}}, "/review/did_not_happen"),
        ({"limit": 5, "review": 3}, "/review"),
    ],
    ids=["none", "negative", "too-many", "text", "null", "used", "negative-review", "spelling", "no-object"],
)
def test_a_wrong_change_is_refused_by_name(stage: AdminStage, body: dict[str, object], pointer: str) -> None:
    refused = stage.call("PUT", f"{ALLOWANCES}/exa", body, if_match='"0"')

    assert (refused.status, refused.pointers) == (422, [pointer])


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_store_that_is_down_is_503(stage: AdminStage, method: str) -> None:
    stage.allowance_desk.failure = Unavailable("Try again.", retry_after_s=5)
    refused = stage.call(method, f"{ALLOWANCES}/exa", {"limit": 5} if method == "PUT" else None, if_match='"0"')

    assert (refused.status, refused.code) == (503, "store_unavailable")


def test_allowances_are_for_admins_alone(stage: AdminStage) -> None:
    token = stage.issue().json["token"]

    assert stage.call("GET", ALLOWANCES, token=token).status == 401
    assert stage.call("PUT", f"{ALLOWANCES}/exa", {"limit": 5}, token=token, if_match='"0"').status == 401
