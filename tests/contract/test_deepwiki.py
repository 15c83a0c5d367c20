"""DeepWiki as a kind: what is asked of it, how its answers and failures are read, and what it is never told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.live_configs import DeepWikiConfig, FirecrawlConfig
from shared.domain.passages import FreshnessWish, Warning_
from shared.domain.registrations import ProviderKind
from shared.providers.deepwiki import DeepWikiRetriever
from tests.support.fakes import FakeClock
from tests.support.live_cases import FIXTURES
from tests.support.mcp_servers import BadMcpServer, bad_mcp_server
from tests.support.mcp_stage import Case, McpStage

REPOSITORY = "fern-desk/ferry-docs"
QUERY = "How are widgets opened?"
LAZY = {"content": [{"type": "text", "text": "Lazily."}]}
GOOD = {"json": {"jsonrpc": "2.0", "id": "$id", "result": LAZY}}
UNKNOWN = {"json": {"jsonrpc": "2.0", "id": "$id", "error": {"code": -32602, "message": ""}}}
SCHEMA = {"properties": {"repoName": {}, "question": {}}}
LISTED = {
    "json": {"jsonrpc": "2.0", "id": "$id", "result": {"tools": [{"name": "ask_question", "inputSchema": SCHEMA}]}}
}


def cases(topic: str) -> pytest.MarkDecorator:
    recorded = json.loads((FIXTURES / "deepwiki" / f"{topic}.json").read_text(encoding="utf-8"))["cases"]
    return pytest.mark.parametrize("case", recorded, ids=[case["name"].replace(" ", "_") for case in recorded])


@pytest.fixture(scope="module")
def server() -> Iterator[BadMcpServer]:
    with bad_mcp_server() as running:
        yield running


def a_stage(server: BadMcpServer, *repositories: str, clock: FakeClock | None = None, **source: Any) -> McpStage:
    retriever = DeepWikiRetriever(clock=clock or FakeClock(), allow_test_names=False)
    config = DeepWikiConfig(repositories=repositories or (REPOSITORY,))
    server.play([GOOD])
    return McpStage(server, retriever, **{"kind": ProviderKind.DEEPWIKI, "config": config} | source)


def questions(server: BadMcpServer) -> list[object]:
    return [seen.json["params"]["arguments"] for seen in server.seen if seen.json["method"] == "tools/call"]


# --- answers ---
@cases("answers")
def test_an_answer_is_read_as_recorded(server: BadMcpServer, case: Case) -> None:
    a_stage(server).play(case, QUERY)


@cases("tools")
def test_the_question_tool_is_found(server: BadMcpServer, case: Case) -> None:
    stage = a_stage(server)
    stage.play(case, QUERY)
    assert stage.calls == case["posts"]


def test_a_question_is_one_call_at_the_services_endpoint(server: BadMcpServer) -> None:
    stage = a_stage(server)
    stage.ask(QUERY)
    assert [(seen.method, seen.path) for seen in server.seen] == [("POST", "/mcp")]
    arguments = {"repoName": REPOSITORY, "question": QUERY}
    assert stage.calls == [{"name": "ask_wiki_question", "arguments": arguments}]


def test_a_long_answer_is_cut_and_says_so(server: BadMcpServer) -> None:
    stage = a_stage(server)
    server.play([{"json": {"jsonrpc": "2.0", "id": "$id", "result": {"structuredContent": {"result": "渡" * 9_000}}}}])
    answer = stage.ask(QUERY)
    assert [(len(each.snippet), each.truncated) for each in answer.passages] == [(8_000, True)]
    assert answer.warnings == (Warning_.SNIPPET_CUT,)


def test_what_the_service_cannot_do_is_said(server: BadMcpServer) -> None:
    answer = a_stage(server).ask(QUERY, version="3.1", freshness=FreshnessWish.FRESH)
    assert answer.warnings == (Warning_.VERSION_NOT_ADVERTISED, Warning_.NOT_FRESH)


# --- which repository ---
@pytest.mark.parametrize("named", [None, REPOSITORY, "Fern-Desk/FERRY-docs"], ids=["unnamed", "named", "other_case"])
def test_the_repository_is_asked_about_as_it_is_listed(server: BadMcpServer, named: str | None) -> None:
    a_stage(server).ask(QUERY, repository=named)
    assert questions(server) == [{"repoName": REPOSITORY, "question": QUERY}]


def test_a_named_repository_is_found_among_several(server: BadMcpServer) -> None:
    stage = a_stage(server, REPOSITORY, "fern-desk/timetables")
    assert stage.ask(QUERY, repository="fern-desk/timetables").passages[0].document_id == "fern-desk/timetables"
    assert questions(server) == [{"repoName": "fern-desk/timetables", "question": QUERY}]


@pytest.mark.parametrize(
    "named",
    [
        "fern-desk/secret-plans",
        "fern-desk/ferry-docs-2",
        "ferry-docs",
        "fern-desk/ferry-docs/",
        " fern-desk/ferry-docs",
        "https://github.com/fern-desk/ferry-docs",
        '["fern-desk/ferry-docs"]',
        "fern-desk/ferry-doc\u017f",  # a letter that upper case would make an s
        "",
    ],
    ids=["another", "longer", "without_owner", "slash", "blank", "url", "list", "lookalike", "empty"],
)
def test_a_repository_that_is_not_listed_is_never_named_to_the_service(server: BadMcpServer, named: str) -> None:
    stage = a_stage(server)
    assert stage.refusal(QUERY, repository=named).code == "not_configured"
    assert (server.seen, stage.units) == ([], (0, 0, 0))


def test_no_request_of_any_kind_holds_what_is_not_listed(server: BadMcpServer) -> None:
    stage = a_stage(server)
    server.play([{"status": 400, "text": ""}, UNKNOWN, LISTED, GOOD])
    stage.refusal(QUERY, repository="fern-desk/secret-plans")
    stage.refusal(QUERY, product="secret-plans", version="secret-plans", conversation_id="secret-plans")
    server.play([UNKNOWN, LISTED, GOOD])
    stage.ask(QUERY, product="secret-plans", version="secret-plans", conversation_id="secret-plans", locale="en")
    assert len(server.seen) == 3
    assert not [seen for seen in server.seen if b"secret" in seen.body or "secret" in repr(seen.headers)]


@pytest.mark.parametrize(
    ("changes", "question", "code"),
    [
        ({"repositories": (REPOSITORY, "fern-desk/timetables")}, {}, "missing_input"),
        ({"config": None}, {}, "not_configured"),
        ({"config": DeepWikiConfig(repositories=())}, {}, "not_configured"),
        ({"config": DeepWikiConfig(repositories=("no repository",))}, {}, "not_configured"),
        ({"config": FirecrawlConfig(approved_hosts=("docs.example.com",))}, {}, "not_configured"),
        ({}, {"freshness": FreshnessWish.FORCE}, "capability_unavailable"),
        ({}, {"query": "q" * 1_001}, "query_too_long"),
    ],
    ids=["several", "no_config", "none_listed", "no_name", "another_kinds", "forced", "too_long"],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_reserved(
    server: BadMcpServer, changes: dict[str, Any], question: dict[str, Any], code: str
) -> None:
    stage = a_stage(server, *changes.pop("repositories", ()), **changes)
    assert stage.refusal(question.pop("query", QUERY), **question).code == code
    assert (server.seen, stage.units) == ([], (0, 0, 0))


# --- a tool that was renamed ---
def test_a_found_tool_is_remembered_for_five_minutes(server: BadMcpServer) -> None:
    clock = FakeClock()
    stage = a_stage(server, clock=clock)
    server.play([UNKNOWN, LISTED, GOOD])
    stage.ask(QUERY)
    server.play([GOOD])
    clock.advance(299)
    assert stage.ask(QUERY).warnings == (Warning_.CAPABILITIES_CHANGED,)
    assert [call["name"] for call in stage.calls] == ["ask_question"]
    server.play([GOOD])
    clock.advance(2)
    assert stage.ask(QUERY).warnings == ()
    assert [call["name"] for call in stage.calls] == ["ask_wiki_question"]


def test_a_found_tool_that_is_gone_again_is_looked_for_anew(server: BadMcpServer) -> None:
    stage = a_stage(server)
    server.play([UNKNOWN, LISTED, GOOD])
    stage.ask(QUERY)
    again = json.loads(json.dumps(LISTED).replace("ask_question", "ask_wiki_question"))
    server.play([UNKNOWN, again, GOOD])
    assert stage.ask(QUERY).warnings == ()
    names = [call if isinstance(call, str) else call["name"] for call in stage.calls]
    assert names == ["ask_question", "tools/list", "ask_wiki_question"]
