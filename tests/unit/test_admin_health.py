"""Health over HTTP, who may ask for it, and how what a circuit has taken out of use shows and is put back."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shared.domain.circuits import WELL, Circuit, Circuits, Effect, Incident, Lane, after, revision_of
from shared.domain.health import HealthState, Look, ProbeRun, ProviderHealth
from shared.domain.health_views import STATES, Part
from shared.domain.journal import Happening, JournalEntry
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Retrieval
from shared.domain.registrations import ProviderStatus
from shared.errors import PreconditionFailed, Refused, Unavailable
from shared.observability import ADMIN_AUTHENTICATION_FAILED, CIRCUITS_UNWRITTEN
from tests.support.admin_stage import AUDIT, KEYS, LIVE, PROVIDERS, AdminStage, Answered
from tests.support.builders import NOW

HEALTH = "/api/v1/knowledge/health"
LOST = Circuit(revision="1", refusals=3, disabled_at=NOW - 5, last_code=OutcomeCode.UNAUTHORIZED, last_at=NOW - 5)
DOWN = Unavailable("Try again.", retry_after_s=5)
Make = Callable[[AdminStage], Answered]

MAKES: dict[str, Make] = {
    "contract": lambda stage: stage.register(),
    **{kind: lambda stage, kind=kind: stage.register_live(kind) for kind in LIVE},
    "dify": lambda stage: stage.bind(stage.install()),
    "dify_external": lambda stage: stage.call(
        "POST",
        PROVIDERS,
        {
            "name": "External",
            "kind": "dify_external",
            "baseUrl": "https://external.fern-desk.test",
            "config": {"knowledgeId": "handbook"},
            "testQuery": "night ferry",
        },
    ),
}


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage()
    stage.looks.run = ProbeRun(run_id="r", started_at=NOW - 62, finished_at=NOW - 60, looked_at=1)
    stage.looks.finished = stage.looks.run
    yield stage
    stage.close()


def active(stage: AdminStage, **over: Any) -> str:
    """The path of a new provider that is on."""
    created = stage.register(**over)
    stage.activate(created)
    return created.headers["Location"]


def id_of(path: str) -> str:
    return path.rsplit("/", 1)[1]


def lose(stage: AdminStage, path: str, *lanes: Lane) -> str:
    """As circuits take a provider out of use, on both lanes unless told otherwise."""
    for lane in lanes or Lane:
        stage.circuits[lane].circuits[id_of(path)] = LOST
    return path


def lost(stage: AdminStage, **over: Any) -> str:
    return lose(stage, active(stage, **over))


def switch(stage: AdminStage, path: str, status: str = "active", **more: Any) -> Answered:
    etag = stage.call("GET", path).etag
    return stage.call("PATCH", path, {"status": status, **more}, if_match=etag)


def try_out(stage: AdminStage, path: str, *, activate: bool) -> Answered:
    return stage.call("POST", f"{path}/test", {"query": "ferry pass", "activate": activate})


def is_out(stage: AdminStage, path: str) -> list[bool]:
    return [circuit.disabled_at > 0 for circuit in circuits_of(stage, path)]


def circuits_of(stage: AdminStage, path: str) -> list[Circuit]:
    """The agents' and the customers'."""
    return [stage.circuits[lane].circuits.get(id_of(path), WELL) for lane in Lane]


def status_of(stage: AdminStage, path: str) -> str:
    return str(stage.call("GET", path).json["status"])


# --- the status that counts ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", MAKES)
def test_every_kind_shows_that_it_is_out_of_use_and_why(stage: AdminStage, kind: str) -> None:
    path = MAKES[kind](stage).headers["Location"]
    registration = stage.store.registrations[id_of(path)]
    stage.store.registrations[id_of(path)] = replace(registration, status=ProviderStatus.ACTIVE, needs_test=False)
    assert stage.call("GET", path).json["statusReason"] is None
    lose(stage, path, Lane.AGENT)
    shown = stage.call("GET", path).json

    assert (shown["status"], shown["statusReason"]["code"]) == ("auto_disabled", "unauthorized")
    assert shown["statusReason"]["at"].startswith("2026-09-21T14:13:15")
    assert shown in stage.call("GET", PROVIDERS).json["providers"]
    back = switch(stage, path)
    assert (back.status, back.json["status"], back.json["statusReason"]) == (200, "active", None)


def test_what_the_customer_lane_says_is_no_status(stage: AdminStage) -> None:
    path = lose(stage, active(stage), Lane.CUSTOMER)

    assert status_of(stage, path) == "active"


def test_a_provider_that_is_switched_off_is_not_shown_as_lost(stage: AdminStage) -> None:
    path = lost(stage)

    assert switch(stage, path, "disabled").json["status"] == status_of(stage, path) == "disabled"


def test_a_change_of_something_else_leaves_it_out_of_use(stage: AdminStage) -> None:
    path = lost(stage)
    renamed = stage.call("PATCH", path, {"name": "Renamed"}, if_match=stage.call("GET", path).etag)

    assert (renamed.json["status"], renamed.json["statusReason"]["code"]) == ("auto_disabled", "unauthorized")
    assert stage.store.registrations[id_of(path)].status is ProviderStatus.ACTIVE
    assert is_out(stage, path) == [True, True]


def test_one_that_is_taken_out_of_use_while_it_is_changed_stays_out(stage: AdminStage) -> None:
    path = active(stage)
    replaced = stage.registry.replace

    async def losing(*args: Any, **named: Any) -> None:
        await replaced(*args, **named)
        lose(stage, path)

    stage.registry.replace = losing  # type: ignore[method-assign]
    assert stage.call("PATCH", path, {"name": "Renamed"}, if_match=stage.call("GET", path).etag).status == 200
    assert status_of(stage, path) == "auto_disabled"


def test_rotating_its_secret_leaves_it_out_of_use(stage: AdminStage) -> None:
    path = lost(stage)
    rotated = stage.call("POST", f"{path}/rotate-secret", {"windowHours": 0})

    assert (rotated.status, rotated.json["status"]) == (200, "auto_disabled")
    assert is_out(stage, path) == [True, True]


# --- putting it back -----------------------------------------------------------------------------


def test_an_operator_puts_it_back_on_both_lanes(stage: AdminStage) -> None:
    path = lost(stage)
    before = stage.call("GET", path)
    back = stage.call("PATCH", path, {"status": "active"}, if_match=before.etag)

    assert (back.json["status"], back.json["generation"]) == ("active", before.json["generation"] + 1)
    assert is_out(stage, path) == [False, False]
    assert status_of(stage, path) == "active"


def test_that_is_audited_with_the_old_status_and_the_new(stage: AdminStage) -> None:
    path = lost(stage)
    stage.clock.advance(1)
    switch(stage, path)
    entry = stage.call("GET", AUDIT).json["entries"][0]

    assert (entry["action"], entry["actor"], entry["resource"]) == (
        "provider.updated",
        "root",
        f"provider/{id_of(path)}",
    )
    assert (entry["before"], entry["after"]) == ({"status": "auto_disabled"}, {"status": "active"})


def test_that_is_noted_in_the_journal_of_each_lane(stage: AdminStage) -> None:
    path = lost(stage)
    switch(stage, path)

    for lane in Lane:
        (entry,) = stage.journals[lane].entries
        assert entry == JournalEntry(
            provider_id=id_of(path),
            at=stage.clock.now(),
            happening=Happening.PUT_BACK,
            state="closed",
            lane=lane,
            code=OutcomeCode.UNAUTHORIZED,
        )


def test_an_agent_only_provider_is_put_back_without_touching_the_customer_lane(stage: AdminStage) -> None:
    path = lost(stage, exposureProfile="agent_only")
    stage.circuits[Lane.CUSTOMER].failure = DOWN

    assert switch(stage, path).json["status"] == "active"


def test_what_an_operator_had_switched_off_meanwhile_is_put_back_too(stage: AdminStage) -> None:
    path = lost(stage)
    switch(stage, path, "disabled")

    assert switch(stage, path).json["status"] == "active"
    assert is_out(stage, path) == [False, False]


def test_to_say_it_of_one_that_is_in_use_changes_nothing(stage: AdminStage) -> None:
    path = active(stage)
    before = stage.call("GET", path)
    stage.circuits[Lane.AGENT].circuits[id_of(path)] = Circuit(revision="2", failures=1)
    again = stage.call("PATCH", path, {"status": "active"}, if_match=before.etag)

    assert again.etag == before.etag
    assert circuits_of(stage, path) == [Circuit(revision="2", failures=1), WELL]


@pytest.mark.parametrize("written", ["renamed", "rotated"])
def test_who_was_asked_before_a_registration_was_written_takes_it_out_of_use_no_more(
    stage: AdminStage, written: str
) -> None:
    """Two refusals are counted, others are still to be told theirs."""
    path = active(stage)
    provider = stage.call("GET", path)
    refused = Incident(
        revision=str(provider.json["generation"]),
        effect=Effect.REFUSAL,
        code=OutcomeCode.UNAUTHORIZED,
        may_disable=True,
    )
    happens = {id_of(path): refused}
    for _ in range(2):
        refuse(stage, happens)
    if written == "renamed":
        assert stage.call("PATCH", path, {"name": "Other"}, if_match=provider.etag).status == 200
    else:
        assert stage.call("POST", f"{path}/rotate-secret", {"windowHours": 0}).status == 200
    for _ in range(4):
        refuse(stage, happens)

    assert (is_out(stage, path), status_of(stage, path)) == ([False, False], "active")
    for _ in range(3):
        refuse(stage, {id_of(path): replace(refused, revision=str(stage.call("GET", path).json["generation"]))})
    assert is_out(stage, path) == [True, False], "those who were asked since count"


def test_who_was_asked_before_a_provider_was_put_back_takes_it_out_of_use_no_more(stage: AdminStage) -> None:
    path = lost(stage)
    old = str(stage.call("GET", path).json["generation"])
    switch(stage, path)
    for _ in range(4):
        refuse(
            stage,
            {id_of(path): Incident(revision=old, effect=Effect.REFUSAL, code=OutcomeCode.FORBIDDEN, may_disable=True)},
        )

    assert status_of(stage, path) == "active"


def test_a_registration_whose_circuits_cannot_be_told_is_written_all_the_same(stage: AdminStage) -> None:
    path = active(stage)
    provider = stage.call("GET", path)
    stage.circuits[Lane.AGENT].circuits[id_of(path)] = Circuit(revision="1", refusals=2)

    async def fails() -> None:
        raise DOWN

    stage.circuits[Lane.AGENT].pause = fails

    assert stage.call("PATCH", path, {"name": "Other"}, if_match=provider.etag).status == 200
    line = next(each for each in stage.log_lines if each["message"] == CIRCUITS_UNWRITTEN)
    assert line["providers"] == [id_of(path)]


def test_of_a_provider_that_nothing_is_known_of_a_change_writes_no_circuit(stage: AdminStage) -> None:
    path = active(stage)
    stage.call("PATCH", path, {"name": "Other"}, if_match=stage.call("GET", path).etag)

    assert [stage.circuits[lane].writes for lane in Lane] == [0, 0]


def refuse(stage: AdminStage, incidents: dict[str, Incident]) -> None:
    """What agents' searches write of it."""

    def rule(circuits: Circuits) -> Circuits:
        later = {id_: after(circuits.get(id_, WELL), each, now=NOW) for id_, each in incidents.items()}
        return {id_: each for id_, each in later.items() if each is not circuits.get(id_, WELL)}

    store = stage.circuits[Lane.AGENT]
    asyncio.run(store.change(rule, known=asyncio.run(store.read())))


def test_a_passed_test_that_is_to_turn_it_on_puts_it_back(stage: AdminStage) -> None:
    path = lost(stage)
    stage.clock.advance(1)
    report = try_out(stage, path, activate=True)

    assert (report.json["activated"], report.json["provider"]["status"]) == (True, "active")
    assert is_out(stage, path) == [False, False]
    entry = stage.call("GET", AUDIT).json["entries"][0]
    assert (entry["action"], entry["before"]) == ("provider.activated", {"status": "auto_disabled"})
    assert [each.happening for each in stage.journals[Lane.AGENT].entries] == [Happening.PUT_BACK]


def test_a_test_that_is_not_to_turn_it_on_counts_for_nothing(stage: AdminStage) -> None:
    path = lost(stage)
    report = try_out(stage, path, activate=False)

    assert (report.json["status"], report.json["activated"]) == ("empty", False)
    assert report.json["provider"]["status"] == "auto_disabled"
    assert is_out(stage, path) == [True, True]


def test_a_failed_test_counts_for_nothing(stage: AdminStage) -> None:
    path = lost(stage)
    stage.kind.retrieval = Refused("unauthorized")
    report = try_out(stage, path, activate=True)

    assert (report.json["status"], report.json["activated"]) == ("failed", False)
    assert is_out(stage, path) == [True, True]
    stage.kind.retrieval = Retrieval()


@pytest.mark.parametrize("lane", list(Lane))
@pytest.mark.parametrize("way", ["patch", "test"])
def test_where_a_ledger_cannot_be_written_it_is_503_and_repeating_it_works(
    stage: AdminStage, lane: Lane, way: str
) -> None:
    path = lost(stage)
    put_back = switch if way == "patch" else lambda *args: try_out(*args, activate=True)
    etag = stage.call("GET", path).etag

    async def fails() -> None:
        raise DOWN

    stage.circuits[lane].pause = fails
    refused = (
        stage.call("PATCH", path, {"status": "active"}, if_match=etag)
        if way == "patch"
        else try_out(stage, path, activate=True)
    )
    assert (refused.status, refused.code, refused.headers["Retry-After"]) == (503, "store_unavailable", "5")
    assert status_of(stage, path) == "auto_disabled"

    stage.circuits[lane].pause = None
    assert put_back(stage, path).status == 200
    assert status_of(stage, path) == "active"
    assert is_out(stage, path) == [False, False]


def test_where_a_ledger_cannot_be_read_nothing_is_written(stage: AdminStage) -> None:
    path = lost(stage)
    before = stage.call("GET", path)
    stage.circuits[Lane.AGENT].failure = DOWN
    refused = stage.call("PATCH", path, {"status": "active"}, if_match=before.etag)
    assert (refused.status, refused.code) == (503, "store_unavailable")

    stage.circuits[Lane.AGENT].failure = None
    assert stage.call("PATCH", path, {"status": "active"}, if_match=before.etag).json["status"] == "active"


def test_of_two_who_put_it_back_one_is_told_to_read_it_again(stage: AdminStage) -> None:
    """The one who lost touches no circuit: it may have been taken out of use again since."""
    path = lost(stage)
    etag = stage.call("GET", path).etag
    replaced = stage.registry.replace

    async def too_late(*_args: Any, **_named: Any) -> None:
        raise PreconditionFailed("It has changed.")

    stage.registry.replace = too_late  # type: ignore[method-assign]
    assert stage.call("PATCH", path, {"status": "active"}, if_match=etag).status == 412
    assert is_out(stage, path) == [True, True]
    stage.registry.replace = replaced  # type: ignore[method-assign]


def test_a_journal_that_cannot_be_written_holds_nobody_back(stage: AdminStage) -> None:
    path = lost(stage)
    stage.journals[Lane.AGENT].failure = DOWN

    assert switch(stage, path).json["status"] == "active"
    assert [line["lane"] for line in stage.log_lines if line["message"] == CIRCUITS_UNWRITTEN] == ["agent"]


def test_a_provider_that_is_deleted_is_forgotten_on_both_lanes(stage: AdminStage) -> None:
    path = lost(stage)

    assert stage.call("DELETE", path, if_match=stage.call("GET", path).etag).status == 204
    assert is_out(stage, path) == [False, False]


def test_one_is_deleted_also_where_its_circuits_cannot_be_forgotten(stage: AdminStage) -> None:
    path = lost(stage)
    etag = stage.call("GET", path).etag
    stage.circuits[Lane.CUSTOMER].failure = DOWN

    assert stage.call("DELETE", path, if_match=etag).status == 204
    assert id_of(path) not in stage.store.registrations


# --- health over HTTP ----------------------------------------------------------------------------


def look_at(stage: AdminStage, path: str, state: HealthState = HealthState.HEALTHY, **over: Any) -> None:
    values: dict[str, Any] = {"look": Look.CAPABILITIES, "state": state, "since": NOW - 600, "last_well_at": NOW - 600}
    health = ProviderHealth(
        provider_id=id_of(path), revision=revision_of(stage.store.registrations[id_of(path)].source), **values | over
    )
    stage.looks.healths[id_of(path)] = health


def health(stage: AdminStage, provider_id: str = "", *, token: str | None = "") -> Answered:
    return stage.call("GET", f"{HEALTH}/{provider_id}" if provider_id else HEALTH, token=token)


def test_all_is_well(stage: AdminStage) -> None:
    path = active(stage)
    look_at(stage, path)
    told = health(stage)

    assert (told.status, told.json["status"], told.json["stale"], told.json["unavailable"]) == (
        200,
        "healthy",
        False,
        [],
    )
    assert told.json["checkedAt"] == told.json["run"]["finishedAt"] == "2026-09-21T14:12:20.000Z"
    (provider,) = told.json["providers"]
    well = {"state": "closed", "failures": 0, "openUntil": None, "lastCode": None, "lastAt": None}
    assert provider == {
        "id": id_of(path),
        "name": "Help centre",
        "kind": "contract",
        "exposureProfile": "customer_safe",
        "status": "active",
        "state": "healthy",
        "since": None,
        "looked": "capabilities",
        "code": None,
        "explanation": "The last look went well.",
        "retryAt": None,
        "lastWellAt": "2026-09-21T14:03:20.000Z",
        "warnings": [],
        "circuits": {"agent": well, "customer": well},
    }


def test_one_of_several_that_is_down_is_told_first_and_the_answer_is_200(stage: AdminStage) -> None:
    paths = [active(stage, name=f"Help {number}") for number in range(6)]
    for path in paths:
        look_at(stage, path)
    look_at(stage, paths[3], HealthState.DOWN, code=OutcomeCode.CONNECTION_FAILED)
    told = health(stage)

    assert (told.status, told.json["status"]) == (200, "degraded")
    assert [each["state"] for each in told.json["providers"]] == ["down", *["healthy"] * 5]
    assert told.json["providers"][0]["id"] == id_of(paths[3])


def test_all_of_them_down_is_200_as_well(stage: AdminStage) -> None:
    for number in range(6):
        look_at(stage, active(stage, name=f"Help {number}"), HealthState.DOWN, code=OutcomeCode.TIMEOUT)
    told = health(stage)

    assert (told.status, told.json["status"]) == (200, "down")


def test_credentials_that_all_have_ended_are_told_as_that(stage: AdminStage) -> None:
    """Being reached is not being well."""
    for number in range(3):
        look_at(stage, active(stage, name=f"Help {number}"), HealthState.REFUSED, code=OutcomeCode.UNAUTHORIZED)
    told = health(stage).json

    assert told["status"] == "down"
    assert {(each["state"], each["code"]) for each in told["providers"]} == {("refused", "unauthorized")}
    assert all(each["explanation"].startswith("It does not take our credentials.") for each in told["providers"])


@pytest.mark.parametrize("failing", ["registry", "rate_limits"])
def test_a_store_that_is_down_is_503(stage: AdminStage, failing: str) -> None:
    path = active(stage)
    getattr(stage, failing).failure = DOWN

    for told in (health(stage), health(stage, id_of(path))):
        assert (told.status, told.code, told.headers["Retry-After"]) == (503, "store_unavailable", "5")


def test_what_cannot_be_read_is_named_and_null(stage: AdminStage) -> None:
    active(stage)
    stage.pool_keys.failure = Unavailable("Try again.", code="secrets_unavailable")
    stage.circuits[Lane.CUSTOMER].failure = DOWN
    told = health(stage).json

    assert (told["status"], told["unavailable"]) == ("degraded", ["customer_circuits", "keys"])
    assert told["providers"][0]["circuits"]["customer"] is None
    exa = next(pool for pool in told["pools"] if pool["pool"] == "exa")
    assert (exa["configured"], exa["retryAt"]) == (None, None)
    assert exa["allowance"] == {"limit": 1000, "used": 0, "unknown": 0}


def test_pools_are_told_in_numbers_and_no_key_and_no_name_of_one(stage: AdminStage) -> None:
    stage.call("POST", "/api/v1/knowledge/pools/exa/rest", {"key": "EXA_API_KEY_1", "seconds": 60})
    told = health(stage)

    exa = next(pool for pool in told.json["pools"] if pool["pool"] == "exa")
    assert (exa["configured"], exa["usable"], exa["resting"], exa["retryAt"]) == (3, 2, 1, None)
    for entries in KEYS.values():
        for name, value in entries.items():
            assert name not in told.text
            assert value not in told.text


def test_nobody_having_looked_lately_is_told(stage: AdminStage) -> None:
    look_at(stage, active(stage))
    stage.clock.advance(900)
    told = health(stage).json

    assert (told["stale"], told["status"], told["providers"][0]["state"]) == (True, "degraded", "unchecked")


def test_a_provider_that_is_left_alone_says_until_when(stage: AdminStage) -> None:
    path = active(stage)
    stage.circuits[Lane.AGENT].circuits[id_of(path)] = Circuit(
        revision="2", failures=3, openings=1, open_until=NOW + 31, last_code=OutcomeCode.TIMEOUT, last_at=NOW
    )
    (provider,) = health(stage).json["providers"]

    assert (provider["state"], provider["code"], provider["looked"]) == ("down", "timeout", None)
    assert provider["retryAt"] == provider["circuits"]["agent"]["openUntil"] == "2026-09-21T14:13:51.000Z"
    assert (provider["circuits"]["agent"]["state"], provider["circuits"]["agent"]["failures"]) == ("open", 3)


@pytest.mark.parametrize("kind", MAKES)
def test_every_kind_is_told_in_words_of_its_own(stage: AdminStage, kind: str) -> None:
    path = MAKES[kind](stage).headers["Location"]
    registration = stage.store.registrations[id_of(path)]
    stage.store.registrations[id_of(path)] = replace(registration, status=ProviderStatus.ACTIVE, needs_test=False)
    look_at(stage, path, HealthState.REFUSED, code=OutcomeCode.UNAUTHORIZED)
    told = health(stage, id_of(path)).json["provider"]

    assert (told["kind"], told["state"]) == (kind, "refused")
    assert len(told["explanation"]) > 60


def test_one_provider_is_told_with_its_history(stage: AdminStage) -> None:
    path = lost(stage)
    stage.clock.advance(1)
    switch(stage, path)
    told = health(stage, id_of(path)).json

    assert told["provider"]["id"] == id_of(path)
    assert told["pools"] == []
    assert {each["lane"] for each in told["history"]} == {"agent", "customer"}
    assert told["history"][0] == {
        "at": "2026-09-21T14:13:21.250Z",
        "happening": "put_back",
        "state": "closed",
        "lane": told["history"][0]["lane"],
        "code": "unauthorized",
        "until": None,
    }


def test_one_live_provider_is_told_with_its_pool(stage: AdminStage) -> None:
    told = health(stage, stage.register_live("exa").json["id"]).json

    assert [pool["pool"] for pool in told["pools"]] == ["exa"]


# --- who may ask ---------------------------------------------------------------------------------


def test_an_agent_sees_what_it_may_reach_and_nothing_of_the_rest(stage: AdminStage) -> None:
    own, other = active(stage, name="Own"), active(stage, name="Other")
    token = stage.issue(allowedProviders=[id_of(own)]).json["token"]
    told = health(stage, token=token)

    assert (told.status, [each["id"] for each in told.json["providers"]], told.json["pools"]) == (200, [id_of(own)], [])
    assert health(stage, id_of(own), token=token).status == 200
    unknown, forbidden = (health(stage, each, token=token) for each in ("cs_" + "a" * 16, id_of(other)))
    assert (unknown.status, unknown.code) == (forbidden.status, forbidden.code) == (404, "not_found")
    assert unknown.json["detail"] == forbidden.json["detail"]


@pytest.mark.parametrize("is_one", [False, True], ids=["all", "one"])
def test_how_many_providers_there_are_is_told_to_admins_alone(stage: AdminStage, is_one: bool) -> None:
    provider_id = id_of(active(stage))
    token = stage.issue(allowedProviders=[provider_id]).json["token"]
    runs = [health(stage, provider_id if is_one else "", token=each).json["run"] for each in ("", token)]

    assert [(run["lookedAt"], run["leftOut"]) for run in runs] == [(1, 0), (None, None)]
    assert runs[0] | {"lookedAt": None, "leftOut": None} == runs[1]


def test_a_look_that_was_told_to_wait_is_not_told_as_a_search_that_was(stage: AdminStage) -> None:
    of_look, of_search = active(stage, name="Look"), active(stage, name="Search")
    for path in (of_look, of_search):
        look_at(stage, path, HealthState.LIMITED, code=OutcomeCode.RATE_LIMITED, retry_at=NOW + 60)
    stage.circuits[Lane.AGENT].circuits[id_of(of_search)] = Circuit(
        revision="2", is_held=True, open_until=NOW + 60, last_code=OutcomeCode.RATE_LIMITED, last_at=NOW
    )
    told = {each["id"]: each for each in health(stage).json["providers"]}

    assert {each["state"] for each in told.values()} == {"limited"}
    looked, searched = (told[id_of(path)]["explanation"] for path in (of_look, of_search))
    assert looked.startswith("A look was told to come back later")
    assert searched.startswith("It, or what it is asked with, is to be left alone")


def test_an_agent_without_a_list_sees_all(stage: AdminStage) -> None:
    active(stage)
    active(stage, name="Internal", exposureProfile="agent_only")

    assert len(health(stage, token=stage.issue().json["token"]).json["providers"]) == 2


@pytest.mark.parametrize("fields", [{"class": "ast"}, {"class": "pub", "origins": ["https://fern-desk.test"]}])
def test_assistants_and_widgets_are_refused(stage: AdminStage, fields: dict[str, Any]) -> None:
    refused = health(stage, token=stage.issue(**fields).json["token"])

    assert (refused.status, refused.code) == (401, "unauthenticated")
    assert health(stage, token=None).status == 401


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", PROVIDERS), ("GET", AUDIT), ("GET", "/api/v1/knowledge/pools"), ("POST", PROVIDERS)],
)
def test_the_rest_stays_for_admins(stage: AdminStage, method: str, path: str) -> None:
    token = stage.issue().json["token"]
    assert health(stage, token=token).status == 200

    assert stage.call(method, path, {} if method == "POST" else None, token=token).status == 401


def failed_logins(stage: AdminStage) -> int:
    return sum(line["message"] == ADMIN_AUTHENTICATION_FAILED for line in stage.log_lines)


def test_an_agent_whose_token_has_ended_is_no_failed_login_of_an_admin(stage: AdminStage) -> None:
    token = stage.issue().json["token"]
    ended = token[:-4] + ("0000" if not token.endswith("0000") else "1111")

    assert health(stage, token=ended).status == 401
    assert failed_logins(stage) == 0
    assert stage.call("GET", PROVIDERS, token=ended).status == 401
    assert failed_logins(stage) == 1
    assert health(stage, token=stage.root_token[:-4] + "ffff").status == 401
    assert failed_logins(stage) == 2


def test_an_agent_that_asks_too_often_is_told_to_wait(stage: AdminStage) -> None:
    token = stage.issue(ratePerMinute=1).json["token"]

    assert health(stage, token=token).status == 200
    assert health(stage, token=token).status == 429


# --- documented ----------------------------------------------------------------------------------

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("word", [*STATES, *Part, *Look], ids=str)
def test_every_word_of_health_is_explained(word: str) -> None:
    assert f"`{word}`" in (DOCS / "api.md").read_text().partition("## See how providers are")[2]


def test_states_are_documented_in_their_order() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (DOCS / "api.md").read_text(), re.MULTILINE)
    first = rows.index(STATES[0])

    assert rows[first : first + len(STATES)] == list(STATES)


@pytest.mark.parametrize("happening", Happening, ids=str)
def test_everything_that_happens_is_explained(happening: Happening) -> None:
    assert f"| `{happening}` |" in (DOCS / "operations.md").read_text()
