"""Who may talk to the MCP endpoint, and what goes around its messages: origins, tokens, sizes, headers, log lines."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.domain.exposure import CredentialClass
from shared.errors import RateLimited, Unavailable
from shared.web.events import MAX_BODY_BYTES
from shared.web.mcp import identity
from shared.web.mcp.tool import ToolResult
from tests.support.builders import a_credential, a_token
from tests.support.mcp_endpoint import MODERN, PAGE, McpStage, mcp_stage

ROOT = Path(__file__).parents[2]
STRANGE = ["https://evil.test", "null", "", PAGE + "/", PAGE + ":443", f"{PAGE}, {PAGE}", PAGE.replace("https", "http")]
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {}}}


@pytest.fixture
def stage() -> Iterator[McpStage]:
    with mcp_stage() as made:
        yield made


# --- pages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", STRANGE)
@pytest.mark.parametrize("token", ["valid", "invalid", "none"])
def test_a_page_that_is_not_listed_is_turned_away_before_anything_else(
    stage: McpStage, origin: str, token: str
) -> None:
    tokens = {"valid": stage.agent_token, "invalid": stage.agent_token[:-1] + "0", "none": ""}
    answer = stage.post(CALL, token=tokens[token], headers={"origin": origin})
    assert (answer.status, answer.json["code"]) == (403, "forbidden")
    assert (stage.calls, stage.credentials.reads) == ([], 0)
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert answer.headers["Vary"] == "Origin"


@pytest.mark.parametrize("token", ["valid", "invalid"])
def test_a_listed_page_may_read_the_answer_whatever_it_is(stage: McpStage, token: str) -> None:
    sent = stage.agent_token if token == "valid" else stage.agent_token[:-1] + "0"
    answer = stage.post(CALL, token=sent, headers={"origin": PAGE})
    assert answer.status == (200 if token == "valid" else 401)
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE
    assert answer.headers["Vary"] == "Origin"


def test_a_program_sends_no_origin_and_needs_none(stage: McpStage) -> None:
    answer = stage.post(CALL)
    assert answer.status == 200
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert answer.headers["Vary"] == "Origin"


def test_the_preflight_of_a_listed_page_allows_what_clients_send(stage: McpStage) -> None:
    answer = stage.post(None, token="", method="OPTIONS", headers={"origin": PAGE})
    assert (answer.status, answer.text) == (204, "")
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE
    assert answer.headers["Access-Control-Allow-Methods"] == "POST"
    assert set(answer.headers["Access-Control-Allow-Headers"].split(", ")) >= {
        "authorization",
        "content-type",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "mcp-session-id",
        "x-helpthread-agent-id",
        "x-request-id",
    }
    assert stage.credentials.reads == 0


@pytest.mark.parametrize(("origin", "status"), [("https://evil.test", 403), ("null", 403), (None, 204)])
def test_no_other_preflight_allows_anything(stage: McpStage, origin: str | None, status: int) -> None:
    answer = stage.post(None, token="", method="OPTIONS", headers={"origin": origin})
    assert answer.status == status
    assert not [name for name in answer.headers if name.startswith("Access-Control")]


# --- tokens ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [PING, CALL, {"jsonrpc": "2.0", "method": "notifications/initialized"}, "{"], ids=repr)
@pytest.mark.parametrize("token", ["none", "malformed", "adm", "pub"])
def test_a_token_that_cannot_be_one_is_refused_unread(stage: McpStage, token: str, body: Any) -> None:
    sent = {"none": "", "malformed": "kg_agt_short"}.get(token) or a_token(
        a_credential(credential_class=CredentialClass(token) if token in ("adm", "pub") else CredentialClass.AGENT)
    )
    answer = stage.post(body, token="" if token == "none" else sent)
    assert (answer.status, answer.json["code"]) == (401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert stage.credentials.reads == 0


def test_what_is_only_heard_is_taken_without_a_look_at_the_token(stage: McpStage) -> None:
    unknown = a_token(a_credential(credential_class=CredentialClass.AGENT))
    answer = stage.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, token=unknown)
    assert (answer.status, answer.text) == (202, "")
    assert (stage.credentials.reads, sum(stage.rate_limits.counts.values())) == (0, 0)


def test_an_assistant_without_the_grant_is_refused(stage: McpStage) -> None:
    credential = a_credential(credential_class=CredentialClass.ASSISTANT)
    stage.credentials.all = [credential]
    answer = stage.legacy("tools/list", token=a_token(credential))
    assert (answer.status, answer.json["code"]) == (403, "forbidden")


@pytest.mark.parametrize("method", ["ping", "tools/list", "tools/call"])
def test_a_spent_rate_is_a_429_that_says_when_to_come_back(stage: McpStage, method: str) -> None:
    for _ in range(stage.agent.rate_per_minute):
        stage.loop.run(stage.rate_limits.count(stage.agent.id))
    answer = stage.legacy(method, name="echo")
    assert (answer.status, answer.json["code"]) == (429, "rate_limited")
    assert int(answer.headers["Retry-After"]) > 0


@pytest.mark.parametrize("method", ["ping", "tools/list", "tools/call"])
def test_a_store_that_cannot_be_read_is_a_503(stage: McpStage, method: str) -> None:
    stage.credentials.failure = Unavailable("Try again.", retry_after_s=5)
    answer = stage.legacy(method, name="echo")
    assert (answer.status, answer.headers["Retry-After"]) == (503, "5")


def test_what_a_tool_may_raise_is_an_http_status(stage: McpStage, monkeypatch: pytest.MonkeyPatch) -> None:
    async def limited(*_: Any, **__: Any) -> None:
        raise RateLimited("Wait.", retry_after_s=7)

    monkeypatch.setattr(stage, "admit", limited)
    answer = stage.modern("tools/call", name="echo")
    assert (answer.status, answer.headers["Retry-After"]) == (429, "7")
    assert answer.headers["Content-Type"] == "application/problem+json"


# --- tools ----------------------------------------------------------------------------------------


def test_a_tool_is_given_the_call_as_it_came(stage: McpStage) -> None:
    arguments = '{"query":"ferry \\ud83d\\udea2","limit":5.0,"deep":{"n":[1,null,12345678901234567890]}}'
    body = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}'
    stage.post(body, headers={"x-helpthread-agent-id": "agent-7", "x-request-id": "asked-1"})
    (call,) = stage.calls
    assert json.loads(call.arguments) == json.loads(arguments)
    assert b'"limit": 5.0' in call.arguments
    assert (call.caller, call.token, call.agent_id, call.request_id) == (
        CredentialClass.AGENT,
        stage.agent_token,
        "agent-7",
        "asked-1",
    )


def test_an_assistant_names_no_agent(stage: McpStage) -> None:
    stage.legacy("tools/call", token=stage.assistant_token, name="echo")
    stage.post(CALL, token=stage.assistant_token, headers={"x-helpthread-agent-id": "agent 7"})
    assert [(call.caller, call.agent_id) for call in stage.calls] == [(CredentialClass.ASSISTANT, None)] * 2


@pytest.mark.parametrize(("token", "status"), [("valid", 422), ("invalid", 401)])
def test_an_agents_name_of_another_alphabet_is_refused_to_those_who_may_ask(
    stage: McpStage, token: str, status: int
) -> None:
    sent = stage.agent_token if token == "valid" else stage.agent_token[:-1] + "0"
    answer = stage.post(CALL, token=sent, headers={"x-helpthread-agent-id": "agent 7"})
    assert (answer.status, stage.calls) == (status, [])


def test_structured_content_is_not_written_anew(stage: McpStage) -> None:
    """Equal to the byte to what the tool gave: numbers keep their digits, texts their escapes, keys their order."""
    given = '{"z":1.50,"a":"\\u00e9 é \\u2028","n":12345678901234567890,"e":1E2}'
    stage.result = ToolResult(text="done", structured=given)
    assert f'"structuredContent":{given},' in stage.legacy("tools/call", name="echo").text
    assert f'"structuredContent":{given},' in stage.modern("tools/call", name="echo").text


def test_headers_of_a_tool_go_out_with_its_answer(stage: McpStage) -> None:
    stage.result = ToolResult(text="done", headers={"Retry-After": "9"})
    assert stage.modern("tools/call", name="echo").headers["Retry-After"] == "9"
    assert stage.post([CALL]).headers["Retry-After"] == "9"


def test_the_text_may_hold_anything(stage: McpStage) -> None:
    text = '"quoted" \\ back\nline\u2028sep \U0001f6a2 </script> \x00'
    stage.result = ToolResult(text=text)
    assert stage.legacy("tools/call", name="echo").json["result"]["content"] == [{"type": "text", "text": text}]


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_tool_for_others_and_an_unknown_one_look_the_same_to_the_byte(stage: McpStage, era: str) -> None:
    texts = {getattr(stage, era)("tools/call", token=stage.assistant_token, name=n).text for n in ("agents_echo", "x")}
    assert len(texts) == 1


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_the_list_is_the_same_text_every_time(stage: McpStage, era: str) -> None:
    assert len({getattr(stage, era)("tools/list").text for _ in range(3)}) == 1


def test_only_modern_clients_are_told_how_long_a_list_may_be_kept(stage: McpStage) -> None:
    assert stage.legacy("tools/list").json["result"].keys() == {"tools"}
    assert stage.modern("tools/list").json["result"].keys() == {"resultType", "_meta", "tools", "ttlMs", "cacheScope"}


# --- bodies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_body_of_another_type_is_refused(stage: McpStage, media_type: str) -> None:
    answer = stage.post(PING, headers={"content-type": media_type})
    assert (answer.status, answer.json["code"]) == (400, "unsupported_media_type")


@pytest.mark.parametrize(
    "media_type", ["application/json; charset=utf-8", "application/json;charset=latin-1", "Application/JSON", None]
)
def test_a_body_of_json_or_of_nothing_that_is_named_is_taken(stage: McpStage, media_type: str | None) -> None:
    assert stage.post(PING, headers={"content-type": media_type}).status == 200


def test_json_is_utf_8_whatever_it_is_called(stage: McpStage) -> None:
    """The character is one byte in Latin 1, and two in UTF-8."""
    body = '{"jsonrpc":"2.0","id":"é","method":"ping"}'
    named = {"content-type": "application/json; charset=latin-1"}
    assert stage.post(body, headers=named).json["id"] == "é"
    assert stage.post(body.encode("latin-1"), headers=named).json["error"]["code"] == -32700


@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "text/event-stream", "application/json;q=0.5"])
def test_what_a_client_accepts_is_json_whatever_it_says(stage: McpStage, accept: str | None) -> None:
    """The protocol has every client accept it."""
    answer = stage.post(PING, headers={"accept": accept})
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")


@pytest.mark.parametrize(("token", "status"), [("valid", 413), ("invalid", 401)])
def test_too_large_a_body_is_refused_to_those_who_may_ask(stage: McpStage, token: str, status: int) -> None:
    sent = stage.agent_token if token == "valid" else stage.agent_token[:-1] + "0"
    assert stage.post(" " * MAX_BODY_BYTES + "{}", token=sent).status == status


# --- what the operator sees -----------------------------------------------------------------------


def test_a_call_is_one_line_that_names_what_is_known_here(stage: McpStage) -> None:
    stage.modern("tools/call", name="failing")
    (line,) = stage.log.of("mcp.answered")
    assert line == {
        "method": "tools/call",
        "tool": "failing",
        "revision": MODERN,
        "credential_class": CredentialClass.AGENT,
        "outcome": "tool_error",
        "code": None,
        "duration_ms": 0,
        "request_id": line["request_id"],
    }


@pytest.mark.parametrize(
    "body",
    [
        {**CALL, "params": {"name": "hush-hush", "arguments": {"hush-hush": 1}}},
        {**PING, "method": "hush-hush"},
        {**PING, "id": "hush-hush", "jsonrpc": "hush-hush"},
        {**PING, "id": "hush-hush", "params": {"_meta": {"io.modelcontextprotocol/clientInfo": "hush-hush"}}},
        {
            **PING,
            "method": "initialize",
            "params": {"protocolVersion": "hush-hush", "clientInfo": {"name": "hush-hush"}},
        },
    ],
    ids=["tool", "method", "envelope", "client", "handshake"],
)
def test_no_line_holds_what_a_client_sent(stage: McpStage, body: Any) -> None:
    stage.post(body, headers={"mcp-method": "hush-hush", "mcp-name": "hush-hush", "mcp-session-id": "hush-hush"})
    assert len(stage.log.of("mcp.answered")) == 1
    assert "hush-hush" not in repr(stage.log.lines)


# --- what it is built of --------------------------------------------------------------------------


def test_the_endpoint_says_the_projects_version() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == identity.VERSION


def test_the_protocol_is_spoken_without_the_clients_library() -> None:
    """The gateway asks others by one, and must not load it to answer."""
    script = "import sys, functions.mcp.routes as r; print([n for n in sys.modules if n.split('.')[0] in {0}])"
    script = script.replace("{0}", repr({"mcp", "mcp_types", "boto3", "httpx", "httpcore"}))
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
