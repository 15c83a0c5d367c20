"""Whatever is sent to the MCP endpoint, the answer is one of the protocol's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.domain.strict_json import parse
from shared.web.mcp.faults import FaultCode
from shared.web.mcp.revisions import SPOKEN
from tests.support.mcp_endpoint import McpStage, mcp_stage

METHODS = ["initialize", "ping", "tools/list", "tools/call", "server/discover", "notifications/initialized", "", "\x00"]
VERSION, CAPABILITIES = "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
REVISIONS = st.sampled_from([*SPOKEN, "banana"])


def usually(likely: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return likely | likely | likely | ANYTHING


PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "name": usually(st.sampled_from(["echo", "failing", "nothing"])),
        "arguments": usually(st.dictionaries(st.text(max_size=4), ANYTHING, max_size=3)),
        "cursor": ANYTHING,
        "protocolVersion": usually(REVISIONS),
        "_meta": usually(st.fixed_dictionaries({}, optional={VERSION: usually(REVISIONS), CAPABILITIES: ANYTHING})),
    },
)
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": usually(st.just("2.0"))},
    optional={
        "id": usually(st.integers(0, 9) | st.text(max_size=3)),
        "method": usually(st.sampled_from(METHODS)),
        "params": usually(PARAMS),
        "result": ANYTHING,
        "error": ANYTHING,
    },
)
BODIES = st.one_of(
    (MESSAGES | st.lists(MESSAGES | ANYTHING, max_size=4) | ANYTHING).map(json.dumps),
    st.text(max_size=40),
    MESSAGES.map(json.dumps).flatmap(lambda text: st.integers(0, len(text)).map(lambda end: text[:end])),
)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "mcp-protocol-version": REVISIONS | st.text(max_size=8),
        "mcp-method": st.sampled_from(METHODS) | st.text(max_size=8),
        "mcp-name": st.sampled_from(["echo", "=?base64?ZWNobw==?=", "=?base64?=", "=?base64?\u00e9?="]),
        "mcp-session-id": st.text(max_size=8),
    },
)


@pytest.fixture(scope="module")
def stage() -> Iterator[McpStage]:
    with mcp_stage() as made:
        yield made


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=BODIES, headers=HEADERS)
def test_no_body_leads_to_anything_but_an_answer_of_the_protocol(
    stage: McpStage, body: str, headers: dict[str, str]
) -> None:
    stage.rate_limits.counts.clear()
    answer = stage.post(body, headers=headers)
    assert answer.status in {200, 202, 400, 404}
    if answer.status == 202:
        assert answer.text == ""
        return
    told = parse(answer.text.encode())
    for each in told if isinstance(told, list) else [told]:
        assert_is_an_answer(each)


def assert_is_an_answer(value: Any) -> None:
    assert value["jsonrpc"] == "2.0"
    assert ("result" in value) is not ("error" in value)
    if "error" in value:
        assert value["error"]["code"] in set(FaultCode)
        assert value["error"]["message"]
    else:
        assert isinstance(value["id"], str | int)
        assert isinstance(value["result"], dict)
