"""The running gateway, asked as Dify asks its external knowledge."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.e2e.running import Answer, Gateway, call

pytestmark = [pytest.mark.emulator]

ENDPOINT = "/api/v1/dify"
RETRIEVAL = f"{ENDPOINT}/retrieval"
DEADLINE_S = 4.0  # Dify waits five seconds
OVER_S = 1.5  # for a machine that is busy with other tests


def retrieve(gateway: Gateway, token: str, *, knowledge_id: str, query: str = "refund override code") -> Answer:
    body = {
        "retrieval_setting": {"top_k": 10, "score_threshold": 0.0},
        "query": query.replace('"', '\\"'),
        "knowledge_id": knowledge_id,
        "metadata_condition": None,
    }
    return call(gateway.url, "POST", RETRIEVAL, body, token=token)


def refusal(answer: Answer) -> tuple[int, int]:
    assert set(answer.json) == {"error_code", "error_msg"}
    assert answer.headers["content-type"] == "application/json"
    return answer.status, answer.json["error_code"]


@pytest.fixture
def granted(gateway: Gateway) -> str:
    return gateway.credential(**{"class": "agt"}, grants=["external_knowledge:agent"])


def test_difys_check_of_a_new_key_tells_a_good_one_from_a_wrong_one(gateway: Gateway) -> None:
    def check(key: str) -> httpx.Response:
        """A POST of nothing, as Dify makes it."""
        with httpx.Client(trust_env=False) as client:
            return client.post(f"{gateway.url}{ENDPOINT}/retrieval", headers={"Authorization": f"Bearer {key}"})

    good, wrong = check(gateway.local["assistant"]), check("kg_ast_" + "a" * 16 + "_" + "0" * 64)
    assert (good.status_code, good.json()["error_code"]) == (400, 4001)
    assert (wrong.status_code, wrong.json()["error_code"]) == (403, 1002)
    assert check("x").content == wrong.content == check(gateway.local["agent"]).content


def test_an_assistants_key_gets_public_passages_alone(gateway: Gateway) -> None:
    answer = retrieve(gateway, gateway.local["assistant"], knowledge_id="public")
    found: list[dict[str, Any]] = answer.found["records"]
    searched = gateway.search("assistant", query="refund override code", limit=10).found["results"]
    assert found
    assert [(r["title"], r["content"]) for r in found] == [(r["title"], r["snippet"]) for r in searched]
    assert [r["score"] for r in found] == [1 / rank for rank in range(1, len(found) + 1)]
    assert all(set(r["metadata"]) <= {"document_id", "url", "locale"} for r in found)
    assert b"LANTERN-7" not in answer.data
    assert answer.headers["cache-control"] == "private, no-store"


def test_an_agents_key_needs_its_grant_and_then_gets_internal_passages_in_time(gateway: Gateway, granted: str) -> None:
    assert refusal(retrieve(gateway, gateway.local["agent"], knowledge_id="all")) == (403, 1002)
    answer = retrieve(gateway, granted, knowledge_id="all")
    assert "LANTERN-7" in str(answer.found["records"])
    assert answer.took_s < DEADLINE_S + OVER_S  # with a source that is slow on purpose, and one that fails


def test_one_provider_can_be_the_knowledge(gateway: Gateway, granted: str) -> None:
    public = gateway.local["providers"]["public"]["id"]
    found = retrieve(gateway, granted, knowledge_id=public, query='"ferry" pass').found["records"]
    assert {record["metadata"]["provider_id"] for record in found} == {public}
    broken = gateway.local["providers"]["broken"]["id"]
    assert refusal(retrieve(gateway, granted, knowledge_id=broken)) == (424, 5001)
    assert refusal(retrieve(gateway, granted, knowledge_id="ao_" + "a" * 16)) == (404, 2001)
    assert refusal(retrieve(gateway, gateway.local["assistant"], knowledge_id=public)) == (404, 2001)


def test_a_header_that_is_none_is_said_to_be_that(gateway: Gateway) -> None:
    assert refusal(call(gateway.url, "POST", RETRIEVAL, {})) == (403, 1001)


def test_another_method_is_a_405_in_the_gateways_own_shape(gateway: Gateway) -> None:
    answer = call(gateway.url, "GET", RETRIEVAL)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
