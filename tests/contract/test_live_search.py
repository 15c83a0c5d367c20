"""An agent's search reaches a live service: the search function as it is wired, its store, and a real connection."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest

from functions.search.routes import api_for
from functions.search.wiring import wired
from shared.domain.key_pools import Rest, fingerprint_of_key
from shared.domain.live_configs import ENDPOINTS, ExaConfig
from shared.domain.pools import Pool
from shared.domain.registrations import ProviderKind
from shared.ports.exchange import OutboundAnswer
from tests.contract.worlds import StoreWorld
from tests.support.admin_stage import Answered, event_of
from tests.support.builders import a_change, a_credential, a_token, an_internal_provider
from tests.support.scripted_service import ScriptedService, scripted_service

pytestmark = pytest.mark.emulator

KEYS = {"EXA_API_KEY": "k-demo-0", "EXA_API_KEY_1": "k-demo-1", "EXA_API_KEY_2": "k-demo-2"}
Search = Callable[..., Answered]


def answer(status: int, body: object, **headers: str) -> OutboundAnswer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return OutboundAnswer(
        status=status, headers={"content-type": "application/json", **named}, body=json.dumps(body).encode()
    )


FOUND = answer(200, {"results": [{"url": "https://docs.example.com/fares", "title": "Fares", "text": "89 euro."}]})
SPENT = answer(402, {"error": "payment required", "tag": "API_KEY_BUDGET_EXCEEDED"})


class Gateway:
    """Every `process()` is a new process of the search function over the same store."""

    def __init__(self, environment: dict[str, str], store: StoreWorld) -> None:
        self._environment = environment
        self._store = store
        boto3.client("secretsmanager").put_secret_value(
            SecretId=environment["KG_POOL_EXA"], SecretString=json.dumps(KEYS)
        )
        provider = an_internal_provider(
            kind=ProviderKind.EXA,
            config=ExaConfig(approved_hosts=("docs.example.com",), results=5),
            base_url=ENDPOINTS[ProviderKind.EXA],
            signing=None,
        )
        agent = a_credential(rate_per_minute=1_000)
        asyncio.run(store.registry().create(provider, a_change()))
        asyncio.run(store.credential_store().create(agent, a_change()))
        self._token = a_token(agent)
        self._loops: list[Any] = []

    def process(self, service: ScriptedService) -> Search:
        settings = {"KG_ALLOW_LOOPBACK_HTTP": "true", "KG_LOCAL_ORIGINS": json.dumps({"exa": service.origin})}
        parts = wired(self._environment | settings)
        self._loops.append(parts.loop)
        api = api_for(parts)

        def search(**body: object) -> Answered:
            event = event_of("search_agent")
            event["headers"]["authorization"] = f"Bearer {self._token}"
            event["body"] = json.dumps({"query": "ferry fares"} | body)
            response = api.handle(event, None)
            return Answered(response["statusCode"], response["headers"], response["body"])

        return search

    def rest(self, waits_s: dict[str, float]) -> None:
        """As another instance wrote it, for so long from now on."""
        ledger, now = self._store.pool_ledger(), time.time()
        for key, wait_s in waits_s.items():
            fingerprint = fingerprint_of_key(Pool.EXA, key)
            asyncio.run(ledger.rest(Pool.EXA, [fingerprint], Rest(now + wait_s, "rate"), active=None))

    def close(self) -> None:
        for loop in self._loops:
            loop.close()


@pytest.fixture
def gateway(aws_environment: dict[str, str], store: StoreWorld) -> Iterator[Gateway]:
    gateway = Gateway(aws_environment, store)
    yield gateway
    gateway.close()


def outcome_of(answered: Answered) -> tuple[str, str | None]:
    assert answered.status == 200, answered.text
    (outcome,) = answered.json["providers"]
    return outcome["status"], outcome["errorCode"]


def keys_at(service: ScriptedService) -> list[str]:
    return [asked.headers["x-api-key"] for asked in service.asked]


def test_of_ten_searches_one_meets_the_spent_key_and_all_succeed(gateway: Gateway) -> None:
    with scripted_service(SPENT, FOUND) as service:
        search = gateway.process(service)
        outcomes = [outcome_of(search()) for _ in range(10)]

    assert outcomes == [("success", None)] * 10
    assert keys_at(service) == ["k-demo-0"] + ["k-demo-1"] * 10


def test_the_first_search_of_a_new_process_leaves_a_resting_key_alone(gateway: Gateway) -> None:
    gateway.rest({"k-demo-0": 600})
    with scripted_service(FOUND) as service:
        assert outcome_of(gateway.process(service)()) == ("success", None)

    assert keys_at(service) == ["k-demo-1"]


def test_a_key_that_one_process_found_spent_is_spent_for_the_others(gateway: Gateway) -> None:
    with scripted_service(SPENT, FOUND) as service:
        first, second = gateway.process(service), gateway.process(service)
        assert [outcome_of(search()) for search in (first, second, first)] == [("success", None)] * 3

    assert keys_at(service) == ["k-demo-0", "k-demo-1", "k-demo-1", "k-demo-1"]


def test_when_all_keys_rest_the_answer_says_when_the_first_is_back_and_nothing_is_sent(gateway: Gateway) -> None:
    gateway.rest({"k-demo-0": 90, "k-demo-1": 40, "k-demo-2": 300})
    with scripted_service(FOUND) as service:
        answered = gateway.process(service)()

    assert outcome_of(answered) == ("skipped", "keys_exhausted")
    assert answered.json["status"] == "failed"
    assert 10 <= int(answered.headers["Retry-After"]) <= 40
    assert service.asked == []


@pytest.mark.parametrize("wait", ["-30", "soon"])
def test_a_limit_with_a_senseless_wait_is_a_limit_all_the_same(gateway: Gateway, wait: str) -> None:
    limited = answer(429, {"error": "too many"}, retry_after=wait)
    with scripted_service(limited, FOUND) as service:
        search = gateway.process(service)
        assert [outcome_of(search()), outcome_of(search())] == [("success", None)] * 2

    assert keys_at(service) == ["k-demo-0", "k-demo-1", "k-demo-1"]


def test_all_keys_refused_at_once_are_each_tried_once(gateway: Gateway) -> None:
    with scripted_service(SPENT) as service:
        search = gateway.process(service)
        assert [outcome_of(search()), outcome_of(search())] == [("skipped", "keys_exhausted")] * 2

    assert keys_at(service) == ["k-demo-0", "k-demo-1", "k-demo-2"]


@pytest.mark.parametrize(
    "refused",
    [
        answer(403, {"error": {"type": "permission_error", "message": "usage limit for this billing cycle"}}),
        answer(401, {"error": "no such key"}),
        answer(408, {"error": "took too long"}),
        answer(500, {"error": "fault"}),
        OutboundAnswer(status=429, headers={"content-type": "text/html"}, body=b"<h1>Slow down</h1>"),
        OutboundAnswer(status=402, headers={"content-type": "text/plain"}, body=b"payment required"),
    ],
    ids=["billing-as-403", "401", "408", "500", "limit-as-page", "payment-as-text"],
)
def test_anything_but_a_structured_refusal_of_the_key_tries_no_other(gateway: Gateway, refused: OutboundAnswer) -> None:
    with scripted_service(refused) as service:
        search = gateway.process(service)
        outcomes = [outcome_of(search()), outcome_of(search())]

    assert {status for status, _ in outcomes} == {"failed"}
    assert keys_at(service) == ["k-demo-0"] * 2


def test_a_senseless_limit_is_the_callers_and_rests_no_key(gateway: Gateway) -> None:
    with scripted_service(FOUND) as service:
        search = gateway.process(service)
        refused = [search(limit=limit) for limit in ("5", 5.0, True, 0, -1, 1e9)]
        fine = search(limit=50)

    assert [(each.status, each.json["errors"][0]["pointer"]) for each in refused] == [(422, "/limit")] * 6
    assert outcome_of(fine) == ("success", None)
    sent = json.loads(service.asked[0].body)["numResults"]
    assert (len(service.asked), type(sent), sent) == (1, int, 5)
