"""The local stand-ins of the live services: strict and odd where the services are, they refuse, fail and recover on
command, and know nothing of the code that asks them.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import http.client
import json
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

import fixtures.stand_ins
from fixtures.stand_ins.context7 import Context7
from fixtures.stand_ins.control import BadCommand, Control, Verdict
from fixtures.stand_ins.documents import Library
from fixtures.stand_ins.firecrawl import Firecrawl
from fixtures.stand_ins.server import StandIns, served
from fixtures.stand_ins.services import services
from fixtures.stand_ins.web import Request

BOARDING = "https://docs.harbour.test/gangway/boarding"
EXA, FIRECRAWL, CONTEXT7 = (
    {"x-api-key": "exa-a"},
    {"Authorization": "Bearer fc-a"},
    {"Authorization": "Bearer ctx7sk-a"},
)
BOTH = {"Accept": "application/json, text/event-stream"}
NOW = 1_790_000_000.0


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def event(self) -> Any:
        """The one message in a stream."""
        (data,) = [line for line in self.body.decode().splitlines() if line.startswith("data: ")]
        return json.loads(data.removeprefix("data: "))


@dataclass(frozen=True)
class World:
    stand_ins: StandIns

    def ask(self, service: str, method: str, path: str, body: object = None, **headers: str) -> Answer:
        url = self.stand_ins.control_url if service == "control" else self.stand_ins.origins[service]
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
        try:
            data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, path, data, {"Content-Type": "application/json", **headers})
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def control(self, **command: object) -> Any:
        answer = self.ask("control", "POST", "/control", command)
        assert answer.status == 200, answer.body
        return answer.json

    def rpc(self, service: str, method: str, **params: object) -> Answer:
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        return self.ask(service, "POST", "/mcp", message, **BOTH)

    def tool(self, service: str, name: str, **arguments: object) -> Answer:
        return self.rpc(service, "tools/call", name=name, arguments=arguments)

    def alexandria(self, call: object, request_id: str = "", **more: object) -> Answer:
        headers = FIRECRAWL | ({"x-request-id": request_id} if request_id else {})
        return self.ask("firecrawl", "POST", "/v2/scrape", {"alexandria": call, **more}, **headers)


@pytest.fixture
def world() -> Iterator[World]:
    stand_ins = StandIns(services(), Control())
    with stand_ins.running():
        yield World(stand_ins)


def test_they_import_nothing_of_the_gateway_and_nothing_that_is_installed() -> None:
    folder = Path(fixtures.stand_ins.__file__).parent
    modules = sorted(folder.glob("*.py"))
    assert len(modules) > 10
    foreign = {
        (path.name, name)
        for path in modules
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _imported(node)
        if not f"{name}.".startswith("fixtures.stand_ins.") and name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert foreign == set()


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or "."] if isinstance(node, ast.ImportFrom) else []


# --- Context7 ---


def context7(world: World, path: str, **query: str) -> Answer:
    text = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
    return world.ask("context7", "GET", f"/api/v2/{path}?{text}", **CONTEXT7)


def test_context7_finds_libraries_with_versions_and_with_figures_that_mean_unknown(world: World) -> None:
    (gangway,) = context7(world, "libs/search", libraryName="Gangway", query="gates").json["results"]
    assert (gangway["id"], gangway["versions"]) == ("/harbour/gangway", ["v3.0.0", "v2.4.1", "2.0.0-rc.1"])
    tidebook = context7(world, "libs/search", libraryName="tidebook", query="tides").json["results"]
    assert {each["id"]: each.get("stars") for each in tidebook} == {"/harbour/tidebook": -1, "/quay/tidebook": None}


def test_context7_has_two_ways_to_find_nothing(world: World) -> None:
    missing = context7(world, "libs/search", libraryName="zeppelin", query="x")
    assert (missing.status, missing.json["error"]) == (404, "no_libraries_found")
    assert context7(world, "libs/search", libraryName="zeppelin", query="x", fast="true").json["results"] == []


def test_context7_answers_with_plain_text_unless_it_is_asked_for_json(world: World) -> None:
    plain = context7(world, "context", libraryId="/harbour/gangway", query="gate")
    assert plain.headers["content-type"].startswith("text/plain")
    found = context7(world, "context", libraryId="/harbour/gangway@2.4.1", query="gate", type="json").json
    assert found["codeSnippets"][0]["codeId"] == BOARDING + "#_snippet_0"
    pages = [snippet.get("pageId", "nothing") for snippet in found["infoSnippets"]]
    assert BOARDING in pages
    assert "nothing" in pages
    assert any("://" not in page for page in pages if page != "nothing")
    assert found["rules"]["global"]


@pytest.mark.parametrize(
    ("library", "status", "code"),
    [
        ("/harbour/drydock", 202, "library_not_finalized"),
        ("/quay/tidebook", 301, "library_redirected"),
        ("harbour", 400, "invalid_library_id"),
        ("/nobody/nothing", 404, "library_not_found"),
        ("/harbour/gangway/v9", 404, "tag_not_found"),
        ("/harbour/atlas", 422, "library_too_large"),
    ],
)
def test_context7_says_why_there_is_no_documentation(world: World, library: str, status: int, code: str) -> None:
    answer = context7(world, "context", libraryId=library, query="gate", type="json")
    assert (answer.status, answer.json["error"]) == (status, code)
    assert "location" not in answer.headers
    if status == 301:
        assert answer.json["redirectUrl"] == "/harbour/tidebook"


def test_context7_takes_no_key_for_a_while_and_a_wrong_one_never(world: World) -> None:
    clock = [NOW]
    service = Context7(Library(), now=lambda: clock[0])
    asked = Request(method="GET", target="/api/v2/libs/search?libraryName=gangway&query=x", headers={})
    statuses = [service.answer(asked).status for _ in range(22)]
    assert statuses == [200] * 20 + [429] * 2
    clock[0] += 3_601
    assert service.answer(asked).status == 200
    wrong = world.ask("context7", "GET", asked.target, Authorization="Bearer other")
    assert (wrong.status, wrong.json["error"]) == (401, "invalid_api_key")


def test_context7_tells_the_reset_as_a_time(world: World) -> None:
    reply = Context7(Library(), now=lambda: NOW).at_its_rate(Request(method="GET", target="/", headers={}), wait_s=90)
    headers = dict(reply.headers)
    assert (reply.status, headers["Retry-After"], headers["RateLimit-Reset"]) == (429, "90", str(int(NOW) + 90))


# --- Exa ---


def exa(world: World, path: str, body: object, **headers: str) -> Answer:
    return world.ask("exa", "POST", path, body, **(headers or EXA))


def test_exa_brings_texts_only_when_they_are_asked_for_inside_contents(world: World) -> None:
    bare = exa(world, "/search", {"query": "ferry pass"}).json["results"]
    assert bare
    assert all("text" not in result for result in bare)
    contents = {"text": {"maxCharacters": 40}}
    body = {"query": "ferry pass", "numResults": 1, "includeDomains": ["docs.harbour.test"], "contents": contents}
    (result,) = exa(world, "/search", body).json["results"]
    assert len(result["text"]) == 40


def test_exa_finds_other_languages_under_ids_that_are_not_their_urls(world: World) -> None:
    (result,) = exa(world, "/search", {"query": "渡轮卡遗失"}).json["results"]
    assert result["url"] == "https://docs.harbour.test/zh/gangway/passes"
    assert result["id"] != result["url"]


@pytest.mark.parametrize(
    ("path", "body", "tag"),
    [
        ("/search", {}, "INVALID_REQUEST_BODY"),
        ("/search", {"query": "x", "text": True}, "INVALID_REQUEST_BODY"),
        ("/search", {"query": "x", "numResults": 0}, "INVALID_NUM_RESULTS"),
        ("/search", {"query": "x", "numResults": 101}, "NUM_RESULTS_EXCEEDED"),
        ("/search", {"query": "x", "contents": {"livecrawl": "always", "maxAgeHours": 0}}, "INVALID_REQUEST"),
        ("/contents", {}, "INVALID_REQUEST_BODY"),
        ("/contents", {"urls": [BOARDING], "ids": [BOARDING]}, "INVALID_REQUEST_BODY"),
        ("/contents", {"urls": []}, "INVALID_URLS"),
        ("/contents", {"urls": [BOARDING], "contents": {"text": True}}, "INVALID_REQUEST_BODY"),
        ("/contents", {"urls": [BOARDING], "maxAgeHours": 721}, "INVALID_REQUEST_BODY"),
        ("/contents", b"[]", "INVALID_REQUEST_BODY"),
    ],
)
def test_exa_refuses_what_it_does_not_know(world: World, path: str, body: object, tag: str) -> None:
    answer = exa(world, path, body)
    assert (answer.status, answer.json["tag"]) == (400, tag)


def test_exa_answers_200_also_when_every_url_failed_and_tells_each_by_what_was_sent(world: World) -> None:
    urls = [BOARDING, "https://docs.harbour.test/gangway/v1", "https://docs.harbour.test/nowhere"]
    body = exa(world, "/contents", {"urls": urls, "text": True}).json
    assert [result["url"] for result in body["results"]] == [BOARDING]
    assert [each["id"] for each in body["statuses"]] == urls[::-1]
    assert {each["id"]: each.get("error", {}).get("tag") for each in body["statuses"]} == {
        urls[0]: None,
        urls[1]: "CRAWL_HTTP_410",
        urls[2]: "CRAWL_NOT_FOUND",
    }
    assert exa(world, "/contents", {"urls": urls[1:]}).status == 200


@pytest.mark.parametrize(
    ("options", "source"), [({}, "cached"), ({"maxAgeHours": 0}, "crawled"), ({"livecrawl": "always"}, "crawled")]
)
def test_exa_says_whether_it_fetched_anew(world: World, options: dict[str, object], source: str) -> None:
    kept = "https://handbook.harbour.test/refunds"
    body = exa(world, "/contents", {"urls": [BOARDING, kept], **options}).json
    assert {each["id"]: each["source"] for each in body["statuses"]} == {BOARDING: source, kept: "cached"}


def test_exa_offers_a_call_without_a_key_for_sale_before_it_looks_at_it(world: World) -> None:
    answer = world.ask("exa", "POST", "/search", b"nonsense")
    assert (answer.status, answer.json["tag"], answer.json["x402Version"]) == (402, "X402_PAYMENT_REQUIRED", 2)
    assert json.loads(base64.b64decode(answer.headers["payment-required"]))["accepts"]
    assert exa(world, "/search", {"query": "x"}, **{"x-api-key": "other"}).json["tag"] == "INVALID_API_KEY"


# --- Firecrawl ---


def scrape(world: World, url: str, **options: object) -> Answer:
    return world.ask("firecrawl", "POST", "/v2/scrape", {"url": url, **options}, **FIRECRAWL)


@pytest.mark.parametrize("options", [{"pageOptions": {}}, {"maxDepth": 2}, {"query": "x"}], ids=lambda o: next(iter(o)))
def test_firecrawl_refuses_an_option_that_it_does_not_know(world: World, options: dict[str, object]) -> None:
    answer = scrape(world, BOARDING, **options)
    assert (answer.status, answer.json["error"]) == (400, "Unrecognized key in body")


def test_firecrawl_keeps_a_copy_unless_a_new_fetch_is_asked_for(world: World) -> None:
    assert scrape(world, BOARDING).json["data"]["metadata"]["cacheState"] == "hit"
    assert scrape(world, BOARDING, maxAge=0).json["data"]["metadata"]["cacheState"] == "miss"
    assert (
        scrape(world, "https://handbook.harbour.test/refunds", maxAge=0).json["data"]["metadata"]["cacheState"] == "hit"
    )


def test_firecrawl_calls_a_page_that_is_not_there_a_success(world: World) -> None:
    for url, status in {"https://docs.harbour.test/nowhere": 404, "https://docs.harbour.test/gangway/v1": 410}.items():
        answer = scrape(world, url)
        assert (answer.status, answer.json["success"]) == (200, True)
        assert answer.json["data"]["metadata"]["statusCode"] == status
    unknown = scrape(world, "https://nowhere.test/")
    assert (unknown.status, unknown.json["success"]) == (200, False)
    assert unknown.json["code"] == "SCRAPE_DNS_RESOLUTION_ERROR"


@pytest.mark.parametrize(
    ("asked", "final"),
    [
        ("gangway/start", BOARDING),
        ("gangway/passes/", "https://docs.harbour.test/gangway/passes"),
        ("notes", "https://mirror.elsewhere.test/gangway-notes"),
    ],
)
def test_firecrawl_follows_redirects_and_says_where_they_led(world: World, asked: str, final: str) -> None:
    metadata = scrape(world, f"https://docs.harbour.test/{asked}").json["data"]["metadata"]
    assert (metadata["sourceURL"], metadata["url"]) == (f"https://docs.harbour.test/{asked}", final)


def test_firecrawl_has_titles_of_two_shapes(world: World) -> None:
    titles = [scrape(world, each.url).json["data"]["metadata"]["title"] for each in Library().documents]
    assert {type(title) for title in titles} == {str, list}


def test_firecrawl_wants_a_key_of_its_own(world: World) -> None:
    for headers in ({}, {"Authorization": "Bearer other"}):
        answer = world.ask("firecrawl", "POST", "/v2/scrape", {"url": BOARDING}, **headers)
        assert answer.status == 401
        assert "code" not in answer.json


# --- Alexandria ---

ARRIVALS = {"provider": "portstats", "capability": "arrivals", "options": {"harbour": "Ostrand", "limit": 5}}
TIDES = {"provider": "tidebook", "capability": "predictions", "options": {"harbour": "Ostrand"}}
DECLARED = {"provider": "customs", "capability": "declarations", "options": {"ship": "Mellvik Star"}}


def tools(world: World, **body: object) -> Answer:
    return world.ask("firecrawl", "POST", "/v2/search", {"sources": ["alexandria"], **body}, **FIRECRAWL)


def test_a_tool_has_a_price_only_when_everything_about_it_is_asked_for(world: World) -> None:
    (compact,) = tools(world, query="arrivals of ships in a harbour").json["data"]["tools"][:1]
    assert set(compact) == {"provider", "capability", "description", "matchedBy"}
    full = tools(world, query="arrivals", toolDetail="full").json["data"]["tools"][0]
    assert (full["creditsCost"], full["perRecord"]) == (2, True)
    assert not [
        tool for tool in tools(world, query="cargo", toolDetail="full").json["data"]["tools"] if "terms" in tool
    ]
    assert tools(world, query=" ").status == 400


def test_the_catalogue_prices_a_tool_for_nothing_and_says_how_to_ask_for_more(world: World) -> None:
    listing = {"provider": "firecrawl", "capability": "find-tools", "options": {"providers": ["tidebook"]}}
    data = world.alexandria(listing).json["data"]
    assert data["creditsCost"] == 0
    (item,) = data["alexandria"][0]["data"]["items"]
    assert (item["creditsCost"], data["alexandria"][0]["data"]["next"]) == (3, None)
    expanded = world.alexandria(item["next"]).json["data"]["alexandria"][0]["data"]["items"][0]
    assert expanded["options"][0]["name"] == "harbour"


def test_a_price_by_record_is_counted_by_record(world: World) -> None:
    (item,) = world.alexandria(ARRIVALS).json["data"]["alexandria"]
    assert (item["records"], item["creditsCost"]) == (5, 10)


def test_one_wrong_call_among_several_fails_inside_a_success(world: World) -> None:
    wrong = {"provider": "tidebook", "capability": "predictions", "options": {}}
    data = world.alexandria([TIDES, wrong]).json["data"]
    good, bad = data["alexandria"]
    assert (good["creditsCost"], data["creditsCost"]) == (3, 3)
    assert bad["error"]["code"] == "invalid_options"


def test_a_paid_call_is_made_once_for_each_request_id(world: World) -> None:
    first = world.alexandria(TIDES, "abc")
    assert (first.status, first.headers["x-request-id"]) == (200, "abc")
    again = world.alexandria(TIDES, "abc")
    assert (again.status, again.json["code"]) == (409, "duplicate_request")
    assert again.json["chargeId"]
    assert world.alexandria(TIDES, "abd").status == 200
    assert world.alexandria(TIDES, "not an id!").status == 400


def test_a_call_whose_answer_was_lost_was_made() -> None:
    control, ended = Control(), threading.Event()
    ended.set()  # nobody has to wait for an answer that does not come
    answer = served(Firecrawl(Library()), control, ended)
    headers = {"authorization": "Bearer fc-a", "x-request-id": "lost"}
    body = json.dumps({"alexandria": TIDES}).encode()
    call = Request(method="POST", target="/v2/scrape", headers=headers, body=body)
    control.command({"service": "firecrawl", "mode": "hang", "for_calls": 1})
    assert answer(call) is None
    again = answer(call)
    assert again is not None
    assert again.status == 409


def test_terms_have_to_be_accepted_by_a_person_first(world: World) -> None:
    refused = world.alexandria(DECLARED, "t1")
    assert (refused.status, refused.json["code"]) == (403, "THIRD_PARTY_DATA_TERMS_REQUIRED")
    assert refused.json["requiresAction"]["type"] == "accept_terms"
    (terms,) = world.ask("firecrawl", "GET", "/v2/exchange/provider-terms", **FIRECRAWL).json["data"]
    path = "/v2/exchange/provider-terms/accept"
    accepting = {"provider": "customs", "version": terms["version"], "digest": terms["digest"], "confirmed": True}
    assert world.ask("firecrawl", "POST", path, {**accepting, "digest": "0"}, **FIRECRAWL).status == 409
    assert world.ask("firecrawl", "POST", path, accepting, **FIRECRAWL).status == 200
    assert world.alexandria(DECLARED, "t1").status == 200


@pytest.mark.parametrize(
    ("call", "more", "status"),
    [
        ({**TIDES, "price": 1}, {}, 400),
        (TIDES, {"url": BOARDING}, 400),
        (TIDES, {"timeout": 50_001}, 400),
        ([], {}, 400),
        ([TIDES] * 11, {}, 400),
        ({"provider": "nobody", "capability": "x"}, {}, 404),
    ],
    ids=["unknown-key", "url", "timeout", "none", "eleven", "provider"],
)
def test_a_call_that_cannot_be_made_is_refused_whole(
    world: World, call: object, more: dict[str, object], status: int
) -> None:
    assert world.alexandria(call, **more).status == status


# --- MCP ---


def test_mintlify_assembles_blocks_with_their_sources(world: World) -> None:
    arguments = {"query": "storm warnings", "includeDomains": ["docs.harbour.test"], "tokenBudget": 500}
    result = world.tool("mintlify", "context", **arguments).json["result"]
    assert set(result) == {"content"}
    text = result["content"][0]["text"]
    assert "### Storm warnings\n\nSource: https://docs.harbour.test/tidebook/warnings\n" in text
    assert len(text) <= 2_000


@pytest.mark.parametrize("arguments", [{}, {"query": "x", "tokenBudget": 6_001}, {"query": "x", "limit": 3}])
def test_mintlify_refuses_arguments_inside_a_success(world: World, arguments: dict[str, object]) -> None:
    answer = world.tool("mintlify", "context", **arguments)
    assert (answer.status, answer.json["error"]["code"]) == (200, -32602)


def test_mintlify_has_one_tool_no_stream_and_errors_on_200(world: World) -> None:
    assert [tool["name"] for tool in world.rpc("mintlify", "tools/list").json["result"]["tools"]] == ["context"]
    unknown = world.rpc("mintlify", "resources/list")
    assert (unknown.status, unknown.json["error"]["code"]) == (200, -32601)
    assert world.ask("mintlify", "GET", "/mcp", **BOTH).status == 405
    assert world.tool("mintlify", "search").json["result"]["isError"] is True
    notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answer = world.ask("mintlify", "POST", "/", notice, **BOTH)
    assert (answer.status, answer.body) == (202, b"")


def test_deepwiki_streams_pings_and_says_everything_twice(world: World) -> None:
    answer = world.tool("deepwiki", "ask_wiki_question", repoName="harbour/gangway", question="How do gates open?")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.body.startswith(b": ping - ")
    result = answer.event["result"]
    assert result["content"][0]["text"] == result["structuredContent"]["result"]
    assert "Open a gate" in result["structuredContent"]["result"]


def test_deepwiki_says_that_a_repository_is_unknown_in_two_ways(world: World) -> None:
    asked = world.tool("deepwiki", "ask_wiki_question", repoName='["harbour/gangway"]', question="x").event["result"]
    assert asked["isError"] is True
    assert asked["content"][0]["text"].startswith("Error processing question: Repository not found.")
    read = world.tool("deepwiki", "read_wiki_structure", repoName="a/b").event["result"]
    assert "isError" not in read
    assert read["content"][0]["text"].startswith("Error fetching wiki for a/b: Repository not found.")


def test_deepwiki_is_particular_about_headers_paths_and_versions(world: World) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for accept in ("application/json", "text/event-stream", "*/*"):
        assert world.ask("deepwiki", "POST", "/mcp", message, Accept=accept).status == 406
    assert world.ask("deepwiki", "GET", "/sse", **BOTH).status == 410
    assert world.ask("deepwiki", "GET", "/mcp", **BOTH).status == 405
    newer = world.ask("deepwiki", "POST", "/mcp", message, **BOTH, **{"MCP-Protocol-Version": "2026-07-28"})
    assert newer.status == 400
    assert world.tool("deepwiki", "ask_question").event["result"]["isError"] is True


def test_an_mcp_server_greets_in_the_version_that_it_is_asked_for_and_keeps_no_session(world: World) -> None:
    answer = world.rpc("mintlify", "initialize", protocolVersion="2025-06-18")
    assert answer.json["result"]["protocolVersion"] == "2025-06-18"
    assert "mcp-session-id" not in answer.headers
    assert (
        world.rpc("mintlify", "initialize", protocolVersion="2099-01-01").json["result"]["protocolVersion"]
        != "2099-01-01"
    )


# --- control ---


def search_with(world: World, key: str) -> int:
    return exa(world, "/search", {"query": "gate"}, **{"x-api-key": key}).status


def test_one_key_is_refused_and_the_others_are_not(world: World) -> None:
    world.control(service="exa", mode="refuse_rate", key="0001", retry_after_s=60)
    refused = exa(world, "/search", {"query": "gate"}, **{"x-api-key": "exa-demo-0001"})
    assert (refused.status, refused.json["tag"]) == (429, "RATE_LIMIT_EXCEEDED")
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert search_with(world, "exa-demo-0002") == 200


def test_a_key_can_be_named_by_the_order_in_which_it_came(world: World) -> None:
    world.control(service="exa", mode="refuse_quota", key=2)
    assert [search_with(world, key) for key in ("exa-a", "exa-b", "exa-a", "exa-b")] == [200, 402, 200, 402]


def test_keys_are_counted_by_fingerprint_and_never_shown(world: World) -> None:
    world.control(service="exa", mode="refuse_rate", key="exa-hidden", for_calls=1)
    assert [search_with(world, "exa-hidden") for _ in range(3)] == [429, 200, 200]
    world.ask("mintlify", "GET", "/mcp")
    answer = world.ask("control", "GET", "/control")
    name = hashlib.sha256(b"exa\0exa-hidden").hexdigest()
    assert answer.json["services"]["exa"] == {"calls": 3, "refused": 1, "keys": {name: {"calls": 3, "refused": 1}}}
    assert answer.json["services"]["mintlify"]["keys"] == {"keyless": {"calls": 1, "refused": 0}}
    assert b"hidden" not in answer.body


def test_an_exhausted_service_spares_no_key_until_it_is_well_again(world: World) -> None:
    world.control(service="exa", mode="exhaust", key="0001")
    assert {search_with(world, key) for key in ("exa-a", "exa-0001")} == {402}
    world.control(mode="ok")
    assert search_with(world, "exa-a") == 200


@pytest.mark.parametrize(
    ("service", "method", "path", "headers", "rate", "quota", "broken"),
    [
        ("context7", "GET", "/api/v2/libs/search?libraryName=x&query=x", CONTEXT7, 429, 402, 502),
        ("exa", "POST", "/search", EXA, 429, 402, 500),
        ("firecrawl", "POST", "/v2/scrape", FIRECRAWL, 429, 402, 500),
        ("mintlify", "POST", "/mcp", BOTH, 429, 429, 200),
        ("deepwiki", "POST", "/mcp", BOTH, 429, 429, 200),
    ],
)
def test_every_service_refuses_in_its_own_way(
    world: World, service: str, method: str, path: str, headers: dict[str, str], rate: int, quota: int, broken: int
) -> None:
    def ask() -> Answer:
        return world.ask(service, method, path, {"id": 1} if method == "POST" else None, **headers)

    for mode, status in {"refuse_rate": rate, "refuse_quota": quota, "fail": broken}.items():
        world.control(service=service, mode=mode)
        assert ask().status == status
    if service == "firecrawl":
        world.control(service=service, mode="refuse_rate", retry_after_s=40)
        told = ask()
        assert "retry after 40s" in told.json["error"]
        assert "retry-after" not in told.headers


def test_a_paid_call_of_a_broken_service_has_an_unknown_outcome(world: World) -> None:
    world.control(service="firecrawl", mode="fail")
    answer = world.alexandria(TIDES)
    assert (answer.status, answer.json["code"]) == (503, "request_unresolved")
    world.control(service="firecrawl", mode="exhaust")
    assert world.alexandria(TIDES).json["code"] == "insufficient_credits"


def test_a_slow_service_answers_late_and_well(world: World) -> None:
    world.control(service="exa", mode="slow", delay_s=0.05, for_calls=1)
    started = time.monotonic()
    assert search_with(world, "exa-a") == 200
    assert time.monotonic() - started >= 0.05


def test_a_refusal_with_an_end_ends_by_itself() -> None:
    clock = [NOW]
    control = Control(now=lambda: clock[0])
    control.command({"service": "exa", "mode": "exhaust", "retry_after_s": 30})
    clock[0] += 10.5
    assert control.admit("exa", "exa-a") == Verdict("exhaust", 20, 2.0)
    clock[0] += 19.5
    assert control.admit("exa", "exa-a") == Verdict()
    assert control.shown()["inForce"] == []


def test_the_newest_word_counts_and_ok_takes_back_what_it_names() -> None:
    control = Control(now=lambda: NOW)
    control.command({"service": "exa", "mode": "refuse_quota"})
    control.command({"service": "exa", "mode": "slow", "key": "0001"})
    assert [control.admit("exa", key).mode for key in ("exa-0001", "exa-0002")] == ["slow", "refuse_quota"]
    control.command({"service": "exa", "mode": "ok", "key": "0001"})
    assert control.admit("exa", "exa-0001").mode == "refuse_quota"
    control.command({"service": "exa", "mode": "ok"})
    assert control.admit("exa", "exa-0001").mode == "ok"


@pytest.mark.parametrize(
    "command",
    [
        {},
        {"mode": "exhaust"},
        {"service": "exa"},
        {"service": "google", "mode": "fail"},
        {"service": "exa", "mode": "explode"},
        {"service": "exa", "mode": "fail", "retryAfter": 3},
        {"service": "exa", "mode": "fail", "key": "123"},
        {"service": "exa", "mode": "fail", "key": 0},
        {"service": "exa", "mode": "fail", "key": True},
        {"service": "exa", "mode": "fail", "retry_after_s": 0},
        {"service": "exa", "mode": "fail", "retry_after_s": True},
        {"service": "exa", "mode": "fail", "for_calls": 1.5},
    ],
    ids=str,
)
def test_a_command_that_is_none_is_explained(world: World, command: dict[str, Any]) -> None:
    with pytest.raises(BadCommand, match=r"\w"):
        Control().command(command)
    answer = world.ask("control", "POST", "/control", command)
    assert answer.status == 400
    assert answer.json["error"]


def test_a_page_in_a_browser_cannot_command(world: World) -> None:
    answer = world.ask("control", "POST", "/control", {"mode": "ok"}, **{"Content-Type": "text/plain"})
    assert answer.status == 415
