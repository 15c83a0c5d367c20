"""The pools of keys, as operators see and handle them: by name, never by key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from shared.domain.circuits import Circuit, CircuitState, Lane
from shared.domain.journal import Happening
from shared.domain.key_pools import PoolState, Rest, fingerprint_of_key, nameless_key
from shared.domain.outcomes import OutcomeCode
from shared.domain.pools import Pool
from shared.errors import Conflict, Unavailable
from tests.support.admin_stage import AUDIT, KEYS, AdminStage, Answered
from tests.support.builders import NOW

POOLS = "/api/v1/knowledge/pools"
KEYLESS = ("mintlify", "deepwiki")
EXA, EXA_1, EXA_2 = (fingerprint_of_key(Pool.EXA, f"k-demo-exa-{name}") for name in ("zero", "one", "two"))
IN_A_MINUTE, IN_AN_HOUR = "2026-09-21T14:14:20.000Z", "2026-09-21T15:13:20.000Z"


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage()
    yield stage
    stage.close()


def pool(stage: AdminStage, name: str = "exa") -> dict[str, Any]:
    shown: list[dict[str, Any]] = stage.call("GET", POOLS).json["pools"]
    return next(each for each in shown if each["pool"] == name)


def rest(stage: AdminStage, key: str = "EXA_API_KEY", seconds: int = 60, name: str = "exa") -> Answered:
    return stage.call("POST", f"{POOLS}/{name}/rest", {"key": key, "seconds": seconds})


def wake(stage: AdminStage, key: str | None, name: str = "exa") -> Answered:
    return stage.call("POST", f"{POOLS}/{name}/wake", {"key": key})


def rests(stage: AdminStage, name: str, seconds: float) -> None:
    """As a service without keys has said it."""
    fingerprint = nameless_key(Pool(name)).fingerprint
    stage.pool_ledger.states[Pool(name)] = PoolState(rests={fingerprint: Rest(NOW + seconds, "rate")})


def states(shown: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["state"] for each in shown["keys"]}


# --- showing -------------------------------------------------------------------------------------


def test_every_service_is_shown_and_whether_it_takes_keys(stage: AdminStage) -> None:
    answered = stage.call("GET", POOLS)

    assert answered.status == 200
    assert {each["pool"]: each["takesKeys"] for each in answered.json["pools"]} == {
        "context7": True,
        "exa": True,
        "firecrawl": True,
        "mintlify": False,
        "deepwiki": False,
    }


@pytest.mark.parametrize("name", KEYLESS)
def test_a_service_without_keys_says_until_when_it_rests(stage: AdminStage, name: str) -> None:
    before = pool(stage, name)
    rests(stage, name, 60)

    assert pool(stage, name) == before | {"readyAgainAt": IN_A_MINUTE}
    assert before == {
        "pool": name,
        "takesKeys": False,
        "configured": 0,
        "usable": 0,
        "resting": 0,
        "keys": [],
        "unusable": [],
        "readyAgainAt": None,
    }
    stage.clock.advance(60)
    assert pool(stage, name) == before


def test_keys_are_shown_by_name_in_their_order_and_the_one_in_use_is_marked(stage: AdminStage) -> None:
    assert pool(stage) == {
        "pool": "exa",
        "takesKeys": True,
        "configured": 3,
        "usable": 3,
        "resting": 0,
        "keys": [
            {"name": "EXA_API_KEY", "state": "active", "restingUntil": None, "reason": None},
            {"name": "EXA_API_KEY_1", "state": "ready", "restingUntil": None, "reason": None},
            {"name": "EXA_API_KEY_2", "state": "ready", "restingUntil": None, "reason": None},
        ],
        "unusable": [],
        "readyAgainAt": None,
    }


def test_a_resting_key_says_until_when_and_why(stage: AdminStage) -> None:
    stage.pool_ledger.states[Pool.EXA] = PoolState(active=EXA_2, rests={EXA: Rest(NOW + 60, "quota")})
    shown = pool(stage)

    assert shown["keys"][0] == {
        "name": "EXA_API_KEY",
        "state": "resting",
        "restingUntil": IN_A_MINUTE,
        "reason": "quota",
    }
    assert states(shown) == {"EXA_API_KEY": "resting", "EXA_API_KEY_1": "ready", "EXA_API_KEY_2": "active"}
    assert (shown["configured"], shown["usable"], shown["resting"], shown["readyAgainAt"]) == (3, 2, 1, None)


def test_a_rest_that_is_over_is_no_rest(stage: AdminStage) -> None:
    stage.pool_ledger.states[Pool.EXA] = PoolState(active=EXA_1, rests={EXA: Rest(NOW, "rate")})

    assert states(pool(stage)) == {"EXA_API_KEY": "ready", "EXA_API_KEY_1": "active", "EXA_API_KEY_2": "ready"}


def test_a_pool_all_of_whose_keys_rest_says_when_the_first_is_back(stage: AdminStage) -> None:
    rests = {EXA: Rest(NOW + 3_600, "quota"), EXA_1: Rest(NOW + 60, "rate"), EXA_2: Rest(NOW + 9_000, "operator")}
    stage.pool_ledger.states[Pool.EXA] = PoolState(active=EXA, rests=rests)
    shown = pool(stage)

    assert (shown["usable"], shown["resting"], shown["readyAgainAt"]) == (0, 3, IN_A_MINUTE)
    assert [each["reason"] for each in shown["keys"]] == ["quota", "rate", "operator"]


def test_a_pool_without_keys_is_shown_empty(stage: AdminStage) -> None:
    stage.pool_keys.entries = {}

    assert pool(stage) == {
        "pool": "exa",
        "takesKeys": True,
        "configured": 0,
        "usable": 0,
        "resting": 0,
        "keys": [],
        "unusable": [],
        "readyAgainAt": None,
    }


def test_what_cannot_be_sent_as_a_key_is_named_and_not_shown(stage: AdminStage) -> None:
    shown = pool(stage, "firecrawl")

    assert (shown["configured"], shown["unusable"]) == (1, ["FIRECRAWL_API_KEY_1"])
    assert "broken" not in stage.call("GET", POOLS).text


def test_neither_a_key_nor_a_fingerprint_is_ever_shown(stage: AdminStage) -> None:
    shown = [stage.call("GET", POOLS), rest(stage), wake(stage, None), stage.call("GET", AUDIT)]
    everything = "".join(each.text for each in shown) + stage.log.getvalue()
    values = [value for entries in KEYS.values() for value in entries.values()]

    assert all(each.status == 200 for each in shown)
    assert not any(secret in everything for secret in (*values, EXA, EXA_1, EXA_2, "k-demo"))


# --- resting and waking --------------------------------------------------------------------------


def test_a_key_rests_because_an_operator_says_so(stage: AdminStage) -> None:
    answered = rest(stage, seconds=3_600)

    assert answered.status == 200
    assert answered.json == pool(stage)
    assert answered.json["keys"][0] == {
        "name": "EXA_API_KEY",
        "state": "resting",
        "restingUntil": IN_AN_HOUR,
        "reason": "operator",
    }
    assert states(answered.json)["EXA_API_KEY_1"] == "active"


def test_the_key_in_use_stays_in_use_when_another_one_rests(stage: AdminStage) -> None:
    stage.pool_ledger.states[Pool.EXA] = PoolState(active=EXA_2)
    rest(stage, "EXA_API_KEY")

    assert stage.pool_ledger.states[Pool.EXA].active == EXA_2


def test_the_key_that_takes_over_stays_in_use_when_the_rest_is_over(stage: AdminStage) -> None:
    rest(stage, "EXA_API_KEY", 60)
    stage.clock.advance(61)

    assert states(pool(stage)) == {"EXA_API_KEY": "ready", "EXA_API_KEY_1": "active", "EXA_API_KEY_2": "ready"}


def test_a_rest_never_moves_earlier(stage: AdminStage) -> None:
    stage.pool_ledger.states[Pool.EXA] = PoolState(active=EXA_1, rests={EXA: Rest(NOW + 3_600, "quota")})
    answered = rest(stage, seconds=60)

    assert (answered.status, answered.json["keys"][0]["restingUntil"]) == (200, IN_AN_HOUR)
    assert answered.json["keys"][0]["reason"] == "quota"
    assert stage.store.audit == {}


def test_a_rest_can_be_made_longer(stage: AdminStage) -> None:
    rest(stage, seconds=60)

    assert rest(stage, seconds=3_600).json["keys"][0]["restingUntil"] == IN_AN_HOUR


def test_one_key_is_woken_and_the_others_go_on_resting(stage: AdminStage) -> None:
    rest(stage, "EXA_API_KEY")
    rest(stage, "EXA_API_KEY_1")
    woken = wake(stage, "EXA_API_KEY_1")

    assert states(woken.json) == {"EXA_API_KEY": "resting", "EXA_API_KEY_1": "ready", "EXA_API_KEY_2": "active"}


@pytest.mark.parametrize("body", [None, {}, {"key": None}], ids=["no-body", "empty", "null"])
def test_all_keys_of_a_pool_are_woken(stage: AdminStage, body: object) -> None:
    for key in ("EXA_API_KEY", "EXA_API_KEY_1", "EXA_API_KEY_2"):
        rest(stage, key)
    woken = stage.call("POST", f"{POOLS}/exa/wake", body)

    assert (woken.status, woken.json["usable"], woken.json["readyAgainAt"]) == (200, 3, None)


def test_waking_what_does_not_rest_writes_nothing(stage: AdminStage) -> None:
    assert wake(stage, "EXA_API_KEY").status == 200
    assert wake(stage, None).status == 200
    assert (stage.pool_ledger.writes, stage.store.audit) == (0, {})


def test_a_replaced_key_does_not_inherit_the_rest_of_its_name(stage: AdminStage) -> None:
    rest(stage)
    stage.pool_keys.entries[Pool.EXA] = {"EXA_API_KEY": "k-demo-exa-new"}

    assert states(pool(stage)) == {"EXA_API_KEY": "active"}


def test_both_are_audited_with_names_and_times(stage: AdminStage) -> None:
    rest(stage, "EXA_API_KEY", 60)
    stage.clock.advance(1)
    rest(stage, "EXA_API_KEY", 3_599)
    stage.clock.advance(1)
    rest(stage, "EXA_API_KEY_2", 60)
    stage.clock.advance(1)
    wake(stage, None)
    entries = stage.call("GET", AUDIT).json["entries"]

    assert [(each["action"], each["resource"], each["actor"]) for each in entries] == [
        ("pool.keys_woken", "pool/exa", "root"),
        ("pool.key_rested", "pool/exa", "root"),
        ("pool.key_rested", "pool/exa", "root"),
        ("pool.key_rested", "pool/exa", "root"),
    ]
    assert entries[0]["after"] == {"keys": ["EXA_API_KEY", "EXA_API_KEY_2"]}
    assert entries[2]["before"] == {"restsUntil": int(NOW) + 60}
    assert entries[2]["after"] == {"keys": ["EXA_API_KEY"], "restsUntil": int(NOW) + 3_600}
    assert entries[3]["before"] == {"restsUntil": None}


@pytest.mark.parametrize("name", KEYLESS)
def test_a_service_without_keys_is_woken_as_a_whole(stage: AdminStage, name: str) -> None:
    rests(stage, name, 3_600)
    woken = wake(stage, None, name)

    assert (woken.status, woken.json) == (200, pool(stage, name))
    assert woken.json["readyAgainAt"] is None
    (entry,) = stage.call("GET", AUDIT).json["entries"]
    assert (entry["action"], entry["resource"], entry["after"]) == ("pool.keys_woken", f"pool/{name}", {"keys": []})
    assert wake(stage, None, name).status == 200
    assert len(stage.store.audit) == 1


def waiting(stage: AdminStage, kind: str, **over: Any) -> str:
    """The id of a provider that has asked agents to wait for an hour."""
    provider_id = str(stage.register_live(kind).json["id"])
    circuit = Circuit(revision="1", open_until=NOW + 3_600, is_held=True, last_code=OutcomeCode.RATE_LIMITED)
    stage.circuits[Lane.AGENT].circuits[provider_id] = replace(circuit, **over)
    return provider_id


def circuit_state(stage: AdminStage, provider_id: str) -> CircuitState:
    return stage.circuits[Lane.AGENT].circuits[provider_id].state_at(stage.clock.now())


@pytest.mark.parametrize("name", KEYLESS)
def test_a_service_that_is_woken_is_asked_by_the_next_search(stage: AdminStage, name: str) -> None:
    """On trial: nobody knows yet that it is well."""
    mine, other = waiting(stage, name), waiting(stage, "exa")
    rests(stage, name, 3_600)

    assert wake(stage, None, name).status == 200
    assert circuit_state(stage, mine) is CircuitState.HALF_OPEN
    assert circuit_state(stage, other) is CircuitState.OPEN
    (entry,) = stage.journals[Lane.AGENT].entries
    assert (entry.provider_id, entry.happening, entry.at) == (mine, Happening.CIRCUIT_HALF_OPENED, NOW)


@pytest.mark.parametrize(
    "over", [{"is_held": False}, {"disabled_at": NOW}, {"open_until": NOW - 1}], ids=["failed", "disabled", "over"]
)
def test_waking_ends_no_other_circuit(stage: AdminStage, over: dict[str, Any]) -> None:
    waiting(stage, "mintlify", **over)
    before = dict(stage.circuits[Lane.AGENT].circuits)

    assert wake(stage, None, "mintlify").status == 200
    assert stage.circuits[Lane.AGENT].circuits == before
    assert stage.circuits[Lane.AGENT].writes == 0


def test_waking_keys_ends_no_wait_of_a_service(stage: AdminStage) -> None:
    exa = waiting(stage, "exa")
    rest(stage)

    assert wake(stage, None).status == 200
    assert circuit_state(stage, exa) is CircuitState.OPEN


def test_a_wake_whose_circuits_could_not_be_written_is_finished_by_another(stage: AdminStage) -> None:
    mine = waiting(stage, "deepwiki")
    rests(stage, "deepwiki", 3_600)
    stage.circuits[Lane.AGENT].failure = Unavailable("Later.", code="store_unavailable")
    assert wake(stage, None, "deepwiki").status == 503
    stage.circuits[Lane.AGENT].failure = None

    assert wake(stage, None, "deepwiki").status == 200
    assert circuit_state(stage, mine) is CircuitState.HALF_OPEN
    assert len([key for key in stage.store.audit.values() if key.action == "pool.keys_woken"]) == 1


@pytest.mark.parametrize("name", KEYLESS)
def test_a_service_without_keys_has_none_to_name(stage: AdminStage, name: str) -> None:
    for key in ("EXA_API_KEY", name.upper()):
        assert (rest(stage, key, name=name).status, wake(stage, key, name).status) == (404, 404)
    assert (rest(stage, "", name=name).status, wake(stage, "", name).status) == (422, 422)
    assert stage.pool_ledger.writes == 0


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["wiki", "EXA", "x" * 300])
@pytest.mark.parametrize("action", ["rest", "wake"])
def test_a_pool_that_is_none_is_not_found(stage: AdminStage, action: str, name: str) -> None:
    refused = stage.call("POST", f"{POOLS}/{name}/{action}", {"key": "EXA_API_KEY", "seconds": 5})

    assert (refused.status, refused.code) == (404, "not_found")


@pytest.mark.parametrize("key", ["EXA_API_KEY_7", "exa_api_key", "FIRECRAWL_API_KEY", "k-demo-exa-zero"])
def test_a_key_that_is_not_there_is_not_found(stage: AdminStage, key: str) -> None:
    assert (rest(stage, key).status, wake(stage, key).status) == (404, 404)
    assert stage.pool_ledger.writes == 0


def test_what_is_no_key_cannot_rest(stage: AdminStage) -> None:
    assert rest(stage, "FIRECRAWL_API_KEY_1", name="firecrawl").status == 404


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"seconds": 60}, "/key"),
        ({"key": "EXA_API_KEY"}, "/seconds"),
        ({"key": None, "seconds": 60}, "/key"),
        ({"key": "EXA_API_KEY", "seconds": 0}, "/seconds"),
        ({"key": "EXA_API_KEY", "seconds": 2_678_401}, "/seconds"),
        ({"key": "EXA_API_KEY", "seconds": 1.5}, "/seconds"),
        ({"key": "EXA_API_KEY", "seconds": "60"}, "/seconds"),
        ({"key": "EXA_API_KEY", "seconds": 60, "reason": "quota"}, "/reason"),
    ],
    ids=["no-key", "no-seconds", "null-key", "zero", "too-long", "fraction", "text", "reason"],
)
def test_a_wrong_rest_is_refused_by_name(stage: AdminStage, body: dict[str, object], pointer: str) -> None:
    refused = stage.call("POST", f"{POOLS}/exa/rest", body)

    assert (refused.status, refused.pointers) == (422, [pointer])


def test_the_longest_rest_is_taken(stage: AdminStage) -> None:
    assert rest(stage, seconds=2_678_400).json["keys"][0]["state"] == "resting"


@pytest.mark.parametrize(
    ("method", "path"), [("GET", POOLS), ("POST", f"{POOLS}/exa/rest"), ("POST", f"{POOLS}/exa/wake")]
)
@pytest.mark.parametrize(
    ("failing", "code"), [("pool_keys", "secrets_unavailable"), ("pool_ledger", "store_unavailable")]
)
def test_a_store_that_is_down_is_503(stage: AdminStage, method: str, path: str, failing: str, code: str) -> None:
    getattr(stage, failing).failure = Unavailable("Try again.", code=code, retry_after_s=5)
    body = {"key": "EXA_API_KEY"} | ({"seconds": 5} if path.endswith("rest") else {}) if method == "POST" else None
    refused = stage.call(method, path, body)

    assert (refused.status, refused.code, refused.headers["Retry-After"]) == (503, code, "5")


def test_a_pool_that_others_keep_changing_is_busy(stage: AdminStage) -> None:
    stage.pool_desk.failure = Conflict("Others are changing the same things.", code="busy", retry_after_s=1)

    assert rest(stage).code == "busy"


@pytest.mark.parametrize("credential_class", ["agt", "ast"])
def test_the_pools_are_for_admins_alone(stage: AdminStage, credential_class: str) -> None:
    token = stage.issue(**{"class": credential_class}).json["token"]

    assert stage.call("GET", POOLS, token=token).status == 401
    assert stage.call("POST", f"{POOLS}/exa/wake", token=token).status == 401
    assert stage.call("GET", POOLS, token=None).status == 401
