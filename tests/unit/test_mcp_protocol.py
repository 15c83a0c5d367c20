"""Raw requests to the MCP endpoint, of both eras, each with its answer: `fixtures/mcp/*.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.web.mcp.faults import FaultCode
from tests.support.mcp_endpoint import McpStage, mcp_stage

CASES = Path(__file__).parents[2] / "fixtures" / "mcp"
KINDS = ("handshake", "lists", "malformed", "modern")


def cases(kind: str) -> list[Any]:
    read: list[Any] = json.loads((CASES / f"{kind}.json").read_text(encoding="utf-8"))
    return read


ALL = [pytest.param(case, id=f"{kind}: {case['name']}") for kind in KINDS for case in cases(kind)]


@pytest.fixture(scope="module")
def stage() -> Iterator[McpStage]:
    with mcp_stage() as made:
        yield made


@pytest.fixture(autouse=True)
def _another_minute(stage: McpStage) -> None:
    stage.rate_limits.counts.clear()
    stage.calls.clear()


@pytest.mark.parametrize("case", ALL)
def test_a_request_is_answered_as_the_protocol_says(stage: McpStage, case: Any) -> None:
    request, wanted = case["request"], case["answer"]
    token = stage.assistant_token if request.get("token") == "assistant" else stage.agent_token
    sent = request["raw"] if "raw" in request else json.dumps(request["body"])
    answer = stage.post(sent, token=token, headers=request.get("headers"))
    assert answer.status == wanted["status"], answer.text
    headers = {name.lower(): value for name, value in answer.headers.items()}
    assert wanted.get("headers", {}).items() <= answer.headers.items()
    assert not {name.lower() for name in wanted.get("without", ())} & headers.keys()
    if wanted.get("empty"):
        assert answer.text == ""
        assert stage.calls == []
        return
    assert headers["content-type"] == "application/json"
    if "body" in wanted:
        assert answer.json == wanted["body"]
    else:
        assert_holds(answer.json, wanted["has"])


def assert_holds(given: Any, wanted: Any) -> None:
    """Lists are whole; objects may hold more."""
    if isinstance(wanted, dict):
        for name, value in wanted.items():
            assert_holds(given[name], value)
    elif isinstance(wanted, list):
        assert len(given) == len(wanted)
        for one, other in zip(given, wanted, strict=True):
            assert_holds(one, other)
    else:
        assert given == wanted


@pytest.mark.parametrize("case", ALL)
def test_nothing_is_told_to_a_token_that_is_not_valid(stage: McpStage, case: Any) -> None:
    """The same problem whatever was sent, but for what is only heard, which is answered with nothing at all."""
    request = case["request"]
    sent = request["raw"] if "raw" in request else json.dumps(request["body"])
    stranger = stage.agent_token[:-64] + "0" * 64
    answer = stage.post(sent, token=stranger, headers=request.get("headers"))
    if case["answer"].get("empty"):
        assert (answer.status, answer.text) == (202, "")
        return
    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.json["detail"] == "This credential is not valid."
    assert stage.calls == []


@pytest.mark.parametrize("case", ALL)
def test_a_token_is_counted_once_a_request(stage: McpStage, case: Any) -> None:
    """Never for what is only heard; and once more where a list asks for something else before it calls a tool, which
    verifies its callers itself.
    """
    request, wanted = case["request"], case["answer"]
    sent = request["raw"] if "raw" in request else json.dumps(request["body"])
    stage.post(sent, headers=request.get("headers"))
    assert sum(stage.rate_limits.counts.values()) == wanted.get("counted", 0 if wanted.get("empty") else 1)


def test_the_cases_show_every_code_there_is() -> None:
    shown = {
        error["code"]
        for kind in KINDS
        for case in cases(kind)
        for answer in _answers(case["answer"].get("body"))
        if (error := answer.get("error"))
    }
    assert shown == set(FaultCode)


def _answers(body: Any) -> list[Any]:
    return body if isinstance(body, list) else [body] if body else []
