"""While the store cannot be used, an agent that it vouched for a moment ago may open anew, for a minute: what it is
told then is the same for all agents. Nobody else is told anything.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.builders import a_credential, a_token
from tests.support.lost_store import AWAY, HEADER, is_refused
from tests.support.mcp_endpoint import McpStage, mcp_stage
from tests.support.search_stage import Answered

OPENINGS = [
    ("legacy", "initialize"),
    ("legacy", "ping"),
    ("legacy", "tools/list"),
    ("modern", "server/discover"),
    ("modern", "tools/list"),
]
every_opening = pytest.mark.parametrize(("era", "method"), OPENINGS)


@pytest.fixture
def stage() -> Iterator[McpStage]:
    with mcp_stage() as made:
        yield made


def open_(stage: McpStage, era: str, method: str, token: str | None = None) -> Answered:
    params = {"protocolVersion": "2025-11-25"} if method == "initialize" else {}
    answer: Answered = getattr(stage, era)(method, token=token, **params)
    return answer


@every_opening
def test_an_agent_opens_anew_and_is_told_what_is_away(stage: McpStage, era: str, method: str) -> None:
    before = open_(stage, era, method)
    assert HEADER not in before.headers
    stage.credentials.failure = AWAY
    answer = open_(stage, era, method)
    assert (answer.status, answer.text, answer.headers[HEADER]) == (200, before.text, "store")

    stage.credentials.failure = None
    assert HEADER not in open_(stage, era, method).headers


@pytest.mark.parametrize("part", ["credentials", "rate_limits"])
def test_it_does_not_matter_which_part_is_lost(stage: McpStage, part: str) -> None:
    stage.legacy("tools/list")
    getattr(stage, part).failure = AWAY
    assert stage.legacy("tools/list").headers[HEADER] == "store"


@every_opening
@pytest.mark.parametrize("who", ["an assistant", "a stranger", "another secret"])
def test_nobody_else_is_told_anything(stage: McpStage, era: str, method: str, who: str) -> None:
    tokens = {
        "an assistant": stage.assistant_token,
        "a stranger": a_token(a_credential(id="c" * 16)),
        "another secret": stage.agent_token[:-1] + "0",
    }
    for known in (stage.agent_token, stage.assistant_token):
        assert open_(stage, era, method, token=known).status == 200
    stage.credentials.failure = AWAY
    assert is_refused(open_(stage, era, method, token=tokens[who]))


def test_an_agent_is_remembered_for_a_minute_and_no_longer(stage: McpStage) -> None:
    stage.legacy("tools/list")
    stage.credentials.failure = AWAY
    stage.clock.advance(59.9)
    assert stage.legacy("tools/list").status == 200
    stage.clock.advance(0.1)
    assert is_refused(stage.legacy("tools/list"))


def test_what_the_store_says_is_what_counts(stage: McpStage) -> None:
    stage.legacy("tools/list")
    stage.credentials.all = []
    assert stage.legacy("tools/list").status == 401
    stage.credentials.failure = AWAY
    assert is_refused(stage.legacy("tools/list"))


def test_a_tool_is_not_let_in_by_what_was_told_beside_it(stage: McpStage) -> None:
    stage.legacy("tools/list")
    stage.credentials.failure = AWAY
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "echo"}},
    ]
    assert is_refused(stage.post(messages))
    assert stage.calls == []
