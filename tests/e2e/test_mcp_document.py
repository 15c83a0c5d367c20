"""What the page about MCP says: its calls answer what is shown, its tables match the tools, its errors are those."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.e2e.running import ROOT, Gateway
from tests.peers.raw_client import RawClient, Received

pytestmark = [pytest.mark.emulator]

PAGE = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
CLASSES = {"agents and assistants": {"agt", "ast"}, "agents": {"agt"}}
GRANTS: dict[str, list[str]] = {"agt": [], "ast": ["knowledge:read_public"]}
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_TOOL = re.compile(r"^\| `(\w+)` \| ([a-z ]+) \|", re.MULTILINE)
_ARGUMENT = re.compile(r"^\| `(\w+)`(, required)? \| ([a-z ]+) \|", re.MULTILINE)
_ERROR = re.compile(r"^\| ([^|]+) \| (\d{3}) \| `([a-z_A-Z]+|-\d+)`", re.MULTILINE)
_OF_ITS_RUN = re.compile(r"\b(?:crd|csc|aoc|cs|ao)_[a-z2-7]{16}\b|\b[0-9a-f]{12}\b")


def section(heading: str) -> str:
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def blocks(kind: str, *, within: str) -> list[str]:
    return [text for shown, text in _BLOCK.findall(section(within)) if shown == kind]


TOOLS = dict(_TOOL.findall(section("Tools").partition("**`")[0]))
ERRORS = {what: (int(status), code) for what, status, code in _ERROR.findall(section("Errors"))}


@pytest.fixture(scope="module")
def clients(gateway: Gateway) -> Iterator[dict[str, RawClient]]:
    """By class."""
    yield {
        name: RawClient(gateway.url, gateway.credential(**{"class": name}, grants=grants, ratePerMinute=10_000))
        for name, grants in GRANTS.items()
    }
    gateway.put_back(gateway.local["providers"]["broken"]["id"])  # it was asked in vain


@pytest.fixture
def agent(clients: dict[str, RawClient]) -> RawClient:
    return clients["agt"]


def typed(gateway: Gateway, script: str) -> dict[str, Any]:
    """What a shell in the gateway's directory gets, in which nothing is set beforehand."""
    done = subprocess.run(
        ["sh", "-eu", "-c", script], cwd=gateway.directory, capture_output=True, text=True, check=True, timeout=60
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def always(answer: dict[str, Any]) -> dict[str, Any]:
    """What is the same in every run."""
    same: dict[str, Any] = json.loads(_OF_ITS_RUN.sub("…", json.dumps(answer, ensure_ascii=False)))
    return same


def test_the_calls_of_the_page_run_as_written_and_answer_what_it_shows(gateway: Gateway) -> None:
    variables, *calls = blocks("sh", within="Try it with curl")
    shown = [json.loads(text) for text in blocks("json", within="Try it with curl")]
    assert len(calls) == len(shown) == 3
    for call, answer in zip(calls, shown, strict=True):
        assert always(typed(gateway, variables + call)) == always(answer)


def test_each_class_is_offered_the_tools_of_the_table_in_its_order(clients: dict[str, RawClient]) -> None:
    assert TOOLS
    for name, client in clients.items():
        assert [tool for tool, offered in TOOLS.items() if name in CLASSES[offered]] == list(client.tools())


@pytest.mark.parametrize("tool", TOOLS)
def test_the_arguments_of_a_tool_are_those_of_its_input_schema(clients: dict[str, RawClient], tool: str) -> None:
    rows = _ARGUMENT.findall(section("Tools").partition(f"\n**`{tool}`**")[2].partition("\n**`")[0])
    for name, client in clients.items():
        if name not in CLASSES[TOOLS[tool]]:
            continue
        schema = client.tools()[tool]["inputSchema"]
        shown = {argument: bool(required) for argument, required, offered in rows if name in CLASSES[offered]}
        assert shown == {field: field in schema.get("required", ()) for field in schema["properties"]}


def limited(gateway: Gateway) -> Received:
    """The second of two requests of a credential that may make one in a minute."""
    client = RawClient(gateway.url, gateway.credential(**{"class": "ast"}, grants=GRANTS["ast"], ratePerMinute=1))
    answers = [client.ask("ping") for _ in range(2)]
    assert "retry-after" in answers[1].headers
    return answers[1]


def refused_method(agent: RawClient) -> Received:
    answers = {
        method: agent.send(method=method, headers={"Accept": "text/event-stream"}) for method in ("GET", "DELETE")
    }
    assert {answer.status for answer in answers.values()} == {405}
    assert "POST" in answers["GET"].headers["allow"]
    return answers["GET"]


CASES: dict[str, Callable[[RawClient, Gateway], Received]] = {
    "a page of an origin that is not listed": lambda agent, _: agent.ask(
        "ping", headers={"Origin": "https://elsewhere.example"}
    ),
    "no token, an unknown one, or one of another class": lambda _, gateway: RawClient(
        gateway.url, gateway.local["widget"]
    ).ask("ping"),
    "an assistant's token without `knowledge:read_public`": lambda _, gateway: RawClient(
        gateway.url, gateway.credential(**{"class": "ast"})
    ).use("knowledge_search", query="refund"),
    "too many requests": lambda _, gateway: limited(gateway),
    "GET or DELETE": lambda agent, _: refused_method(agent),
    "more than 1 MiB": lambda agent, _: agent.send(b" " * (1024 * 1024 + 1)),
    "a body that is declared as anything but JSON": lambda agent, _: agent.send(
        b"{}", headers={"Content-Type": "text/plain"}
    ),
    "not JSON, or the same key twice": lambda agent, _: agent.send(b"{"),
    "no JSON-RPC, or several messages at once": lambda agent, _: agent.send(b"[]"),
    "an unknown method": lambda agent, _: agent.ask("resources/list"),
    "the same in 2026-07-28": lambda agent, _: agent.ask_modern("resources/list"),
    "an unknown tool, or arguments that are no object": lambda agent, _: agent.use("knowledge_forget"),
    "2026-07-28 without `_meta`": lambda agent, _: agent.ask_modern("tools/list", meta={}),
    "headers that are missing, or say something else": lambda agent, _: agent.ask_modern(
        "tools/list", method_header="tools/call"
    ),
    "a revision that is not spoken": lambda agent, _: agent.ask(
        "tools/list", headers={"MCP-Protocol-Version": "2024-11-05"}
    ),
    "an argument that is wrong": lambda agent, _: agent.use("knowledge_search", query="refund", limit="three"),
    "every source failed, and an agent asked": lambda agent, gateway: agent.use(
        "knowledge_search", query="refund", providers=[gateway.local["providers"]["broken"]["id"]]
    ),
}


@pytest.mark.parametrize("what", ERRORS)
def test_an_error_of_the_table_is_answered_as_it_says(agent: RawClient, gateway: Gateway, what: str) -> None:
    answer = CASES[what](agent, gateway)
    assert (answer.status, answer.code) == ERRORS[what]


def test_every_error_that_is_tried_is_in_the_table() -> None:
    assert set(CASES) == set(ERRORS)


def configurations() -> list[tuple[str, dict[str, Any]]]:
    found = [(text, json.loads(text)) for text in blocks("json", within="Configure a client")]
    return found + [(text, tomllib.loads(text)) for text in blocks("toml", within="Configure a client")]


def test_every_configuration_can_be_read_names_the_endpoint_and_holds_no_token() -> None:
    assert len(configurations()) == 7
    for text, _ in configurations():
        assert '"https://gateway.example.com/mcp"' in text
        assert "kg_" not in text
        assert re.search(r"\$\{(env:|input:)?[A-Za-z_-]+\}|<your token>|KG_TOKEN", text)


def test_the_program_of_the_page_finds_something(gateway: Gateway) -> None:
    (program,) = blocks("python", within="Configure a client")
    environment = {**os.environ, "KG_TOKEN": gateway.local["assistant"], "KG_MCP": f"{gateway.url}/mcp"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "Refunds and cancellations"
