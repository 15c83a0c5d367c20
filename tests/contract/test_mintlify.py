"""Mintlify's index as a kind: what is asked of it, how its text is taken apart, and whose text is left out."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.live_configs import DeepWikiConfig, MintlifyConfig, MintlifyEndpoint
from shared.domain.passages import FreshnessWish, Warning_
from shared.domain.registrations import ProviderKind
from shared.providers.mintlify import MintlifyRetriever
from tests.support.fakes import FakeClock
from tests.support.live_cases import FIXTURES
from tests.support.mcp_servers import BadMcpServer, bad_mcp_server
from tests.support.mcp_stage import Case, McpStage

HOSTS = ("docs.example.com", "docs.example.org")
QUERY = "On which ferries is a pass valid?"
DASHES = "-" * 32
URL = "https://docs.example.com/ferries"


def said(text: str) -> Case:
    return {"json": {"jsonrpc": "2.0", "id": "$id", "result": {"content": [{"type": "text", "text": text}]}}}


def block(url: str, text: str = "Valid.") -> str:
    return f"### Ferries\n\nSource: {url}\n\n{text}\n\n{DASHES}\n"


def cases(topic: str) -> pytest.MarkDecorator:
    recorded = json.loads((FIXTURES / "mintlify" / f"{topic}.json").read_text(encoding="utf-8"))["cases"]
    return pytest.mark.parametrize("case", recorded, ids=[case["name"].replace(" ", "_") for case in recorded])


@pytest.fixture(scope="module")
def server() -> Iterator[BadMcpServer]:
    with bad_mcp_server() as running:
        yield running


def a_stage(server: BadMcpServer, *, allow_test_names: bool = False, **config: Any) -> McpStage:
    server.play([said(block(URL))])
    retriever = MintlifyRetriever(clock=FakeClock(), allow_test_names=allow_test_names)
    whole = MintlifyConfig(**{"approved_hosts": HOSTS} | config)
    return McpStage(server, retriever, kind=ProviderKind.MINTLIFY, config=whole)


def arguments(stage: McpStage) -> Case:
    (call,) = stage.calls
    assert call["name"] == "context"
    return call["arguments"]


# --- the request ---
def test_a_question_is_one_call_kept_to_the_approved_hosts(server: BadMcpServer) -> None:
    stage = a_stage(server)
    stage.ask(QUERY)
    assert [(seen.method, seen.path) for seen in server.seen] == [("POST", "/mcp")]
    assert arguments(stage) == {"query": QUERY, "includeDomains": list(HOSTS), "tokenBudget": 3000}


def test_the_root_is_another_endpoint(server: BadMcpServer) -> None:
    stage = a_stage(server, endpoint=MintlifyEndpoint.ROOT)
    stage.ask(QUERY)
    assert [seen.path for seen in server.seen] == ["/"]


@pytest.mark.parametrize(
    ("configured", "asked", "sent"),
    [(None, None, None), ("ferries", None, "ferries"), ("ferries", "trains", "trains"), (None, "trains", "trains")],
    ids=["neither", "configured", "both", "asked"],
)
def test_the_product_of_the_search_comes_before_the_configured_one(
    server: BadMcpServer, configured: str | None, asked: str | None, sent: str | None
) -> None:
    stage = a_stage(server, product=configured)
    stage.ask(QUERY, product=asked)
    assert arguments(stage).get("product") == sent


@pytest.mark.parametrize(
    ("budget", "sent"), [(1, 500), (500, 500), (6_000, 6_000), (20_000, 6_000)], ids=["tiny", "least", "most", "huge"]
)
def test_the_budget_is_kept_to_what_the_service_takes(server: BadMcpServer, budget: int, sent: int) -> None:
    stage = a_stage(server, token_budget=budget)
    stage.ask(QUERY)
    assert arguments(stage)["tokenBudget"] == sent


@pytest.mark.parametrize(
    ("config", "question", "code"),
    [
        (DeepWikiConfig(repositories=("fern-desk/ferry-docs",)), {}, "not_configured"),
        (MintlifyConfig(approved_hosts=()), {}, "not_configured"),
        (None, {}, "not_configured"),
        (MintlifyConfig(approved_hosts=HOSTS), {"freshness": FreshnessWish.FORCE}, "capability_unavailable"),
        (MintlifyConfig(approved_hosts=HOSTS), {"query": "q" * 1_001}, "query_too_long"),
    ],
    ids=["another_kinds", "no_hosts", "no_config", "forced", "too_long"],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_reserved(
    server: BadMcpServer, config: Any, question: dict[str, Any], code: str
) -> None:
    server.play([said(block(URL))])
    retriever = MintlifyRetriever(clock=FakeClock(), allow_test_names=False)
    stage = McpStage(server, retriever, kind=ProviderKind.MINTLIFY, config=config)
    assert stage.refusal(question.pop("query", QUERY), **question).code == code
    assert (server.seen, stage.units) == ([], (0, 0, 0))


# --- the text ---
@cases("contexts")
def test_a_text_is_taken_apart_as_recorded(server: BadMcpServer, case: Case) -> None:
    a_stage(server).play(case, QUERY)


def test_surplus_blocks_are_cut_and_their_sources_are_still_discoveries(server: BadMcpServer) -> None:
    stage = a_stage(server)
    server.play([said("".join(block(f"{URL}/{number}") for number in range(7)))])
    answer = stage.ask(QUERY, limit=3)
    assert [each.url for each in answer.passages] == [f"{URL}/{number}" for number in range(3)]
    assert len(answer.discoveries) == 7
    assert answer.warnings == (Warning_.SURPLUS_CUT,)


def test_a_long_block_is_cut_and_says_so(server: BadMcpServer) -> None:
    stage = a_stage(server)
    server.play([said(block(URL, "渡" * 9_000) + block(f"{URL}/short"))])
    answer = stage.ask(QUERY)
    assert [(len(each.snippet), each.truncated) for each in answer.passages] == [(8_000, True), (6, False)]
    assert answer.warnings == (Warning_.SNIPPET_CUT,)


def test_a_url_that_is_too_long_for_an_id_is_shown_all_the_same(server: BadMcpServer) -> None:
    stage = a_stage(server)
    url = f"{URL}/{'x' * 600}"
    server.play([said(block(url))])
    (passage,) = stage.ask(QUERY).passages
    assert passage.url == url
    assert passage.document_id.startswith("sha256:")


@pytest.mark.parametrize("allow", [True, False], ids=["allowed", "not_allowed"])
def test_names_for_tests_are_cited_in_the_embedded_default_alone(server: BadMcpServer, allow: bool) -> None:
    stage = a_stage(server, allow_test_names=allow, approved_hosts=("docs.fern-desk.test",))
    server.play([said(block("https://docs.fern-desk.test/a"))])
    assert len(stage.ask(QUERY).passages) == allow


def test_what_the_service_cannot_do_is_said(server: BadMcpServer) -> None:
    answer = a_stage(server).ask(QUERY, version="3.1", freshness=FreshnessWish.FRESH)
    assert answer.warnings == (Warning_.VERSION_NOT_ADVERTISED, Warning_.NOT_FRESH)


@pytest.mark.parametrize(
    "text",
    [
        (DASHES + "\n") * 25_000,
        "### a\n" * 120_000,
        "-" * 900_000,
        (DASHES + "\n" * 40) * 8_000,
        "Source: x\n" * 80_000,
        "### t\n" + "\n" * 450_000,
        "### " + "t" * 900_000,
    ],
    ids=["dashes", "titles", "one_line", "gaps", "sources", "empty_lines", "one_title"],
)
def test_a_text_made_to_take_long_does_not(server: BadMcpServer, text: str) -> None:
    stage = a_stage(server)
    server.play([said(text)])
    began = time.monotonic()
    assert len(stage.ask(QUERY).passages) <= 10
    assert time.monotonic() - began < 10


# --- a tool that was renamed ---
def offered(name: str, *names: str) -> Case:
    schema = {"properties": {each: {} for each in names}}
    return {"json": {"jsonrpc": "2.0", "id": "$id", "result": {"tools": [{"name": name, "inputSchema": schema}]}}}


UNKNOWN = {"json": {"jsonrpc": "2.0", "id": "$id", "error": {"code": -32602, "message": ""}}}


def test_a_renamed_tool_is_found_and_kept_to_the_approved_hosts(server: BadMcpServer) -> None:
    stage = a_stage(server)
    server.play([UNKNOWN, offered("search_context", "q", "includeDomains"), said(block(URL))])
    answer = stage.ask(QUERY, product="ferries")
    call = {"name": "search_context", "arguments": {"q": QUERY, "includeDomains": list(HOSTS)}}
    assert stage.calls[1:] == ["tools/list", call]
    assert answer.warnings == (Warning_.CAPABILITIES_CHANGED,)
    assert stage.units == (1, 0, 0)


def test_a_tool_that_cannot_be_kept_to_the_approved_hosts_is_not_called(server: BadMcpServer) -> None:
    stage = a_stage(server)
    server.play([UNKNOWN, offered("search_context", "query", "tokenBudget"), said(block(URL))])
    assert stage.refusal(QUERY).code == "capability_unavailable"
    assert stage.calls[1:] == ["tools/list"]
