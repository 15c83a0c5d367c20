"""Clients that others wrote search, look words up and fetch a source over MCP, in every revision that they speak."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import MCPError

from tests.e2e.running import Gateway
from tests.peers.asked import Asked, always
from tests.peers.heard import Heard, said_by
from tests.peers.node import CLIENTS, INSPECTOR, run_node
from tests.peers.python_clients import PEERS

pytestmark = [pytest.mark.emulator]

REVISIONS = {
    **{name: revision for name, (_, revision) in PEERS.items()},
    "typescript-client-modern": "2026-07-28",
    "typescript-client-2025-11-25": "2025-11-25",
    "typescript-client-2025-06-18": "2025-06-18",
    "typescript-sdk-2025-11-25": "2025-11-25",
}
FOR_ASSISTANTS = ["knowledge_search", "glossary_lookup", "glossary_match"]
FOR_AGENTS = [*FOR_ASSISTANTS, "knowledge_acquire"]
SECRET_OF_THE_DESK = "LANTERN-7"
UNKNOWN_TOOL = -32602

every_client = pytest.mark.parametrize("client", REVISIONS)
in_each_era = pytest.mark.parametrize("client", ["fastmcp", "python-sdk-2025-11-25"])
each_era = pytest.mark.parametrize("era", ["legacy", "modern"])


class Conversations:
    """Each client's with the gateway, had once."""

    def __init__(self, asked: Asked, home: Path) -> None:
        self.asked, self._home = asked, home
        self._heard: dict[str, Heard] = {}

    def of(self, client: str) -> Heard:
        if client not in self._heard:
            self._heard |= self._in_python(client) if client in PEERS else self._in_typescript()
        return self._heard[client]

    def _in_python(self, client: str) -> dict[str, Heard]:
        peer, _ = PEERS[client]
        return {client: asyncio.run(peer(self.asked.url, self.asked.token, self.asked.plan))}

    def _in_typescript(self) -> dict[str, Heard]:
        plan = {key: planned.told for key, planned in self.asked.plan.items()}
        told = json.dumps({"url": self.asked.url, "token": self.asked.token, "plan": plan})
        done = run_node(CLIENTS, home=self._home, standard_input=told)
        assert done.returncode == 0, done.stderr
        return {name: Heard.of(one) for name, one in json.loads(done.stdout).items()}


@pytest.fixture(scope="module")
def agents(gateway: Gateway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversations]:
    asked = Asked(gateway, "agent")
    yield Conversations(asked, tmp_path_factory.mktemp("agents"))
    gateway.put_back(asked.broken)  # every client has asked it in vain


@pytest.fixture(scope="module")
def assistants(gateway: Gateway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversations]:
    asked = Asked(gateway, "assistant")
    yield Conversations(asked, tmp_path_factory.mktemp("assistants"))
    gateway.put_back(asked.broken)


@every_client
def test_a_client_agrees_on_its_revision_and_is_offered_the_tools_of_an_agent(
    agents: Conversations, client: str
) -> None:
    heard = agents.of(client)
    assert heard.revision == REVISIONS[client]
    assert heard.server == ("" if client == "python-sdk-modern-unasked" else "knowledge-gateway")
    assert list(heard.tools) == FOR_AGENTS
    for tool in heard.tools.values():
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"


@every_client
def test_a_tool_gives_a_client_what_rest_gives_the_same_agent(agents: Conversations, client: str) -> None:
    heard = agents.of(client)
    for key in ("search", "nothing", "look-up", "match", "fetched"):
        said = heard.said[key]
        assert not said.is_error, said
        assert always(said.structured) == always(agents.asked.rest(key)), key
        assert said.text


@every_client
def test_a_client_hears_that_nothing_was_found_apart_from_that_everything_failed(
    agents: Conversations, client: str
) -> None:
    found, nothing, failed = (agents.of(client).said[key] for key in ("search", "nothing", "all failed"))
    assert [each.is_error for each in (found, nothing, failed)] == [False, False, True]
    assert nothing.structured["results"] == failed.structured["results"] == []
    assert len({found.text, nothing.text, failed.text}) == 3
    assert all(each["title"] in found.text and each["url"] in found.text for each in found.structured["results"])


@every_client
def test_what_a_tool_says_fits_its_output_schema_also_where_it_failed(agents: Conversations, client: str) -> None:
    heard = agents.of(client)
    structured = {key: said.structured for key, said in heard.said.items() if said.structured is not None}
    assert set(structured) == {"search", "nothing", "all failed", "look-up", "match", "fetched"}
    for key, value in structured.items():
        Draft202012Validator(heard.tools[agents.asked.plan[key].tool]["outputSchema"]).validate(value)


@every_client
def test_a_client_hears_which_argument_is_wrong(agents: Conversations, client: str) -> None:
    said = agents.of(client).said
    for key, field in (("wrong type", "limit"), ("unknown argument", "audience")):
        assert (said[key].is_error, said[key].structured) == (True, None)
        assert f"`{field}`" in said[key].text


@every_client
def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(agents: Conversations, client: str) -> None:
    assert agents.of(client).said["no tool"].error_code == UNKNOWN_TOOL


@in_each_era
def test_an_assistant_is_offered_and_told_what_customers_may_see(assistants: Conversations, client: str) -> None:
    heard = assistants.of(client)
    assert list(heard.tools) == FOR_ASSISTANTS
    for key in ("search", "nothing", "look-up", "match"):
        assert always(heard.said[key].structured) == always(assistants.asked.rest(key)), key
        assert not heard.said[key].is_error
    assert heard.said["fetched"].error_code == heard.said["no tool"].error_code == UNKNOWN_TOOL
    assert SECRET_OF_THE_DESK not in repr(heard)


@in_each_era
def test_the_same_question_of_an_agent_tells_more(agents: Conversations, client: str) -> None:
    assert SECRET_OF_THE_DESK in repr(agents.of(client))


@pytest.mark.parametrize("client", PEERS)
def test_a_client_whose_token_is_not_known_is_refused_and_gives_up(agents: Conversations, client: str) -> None:
    peer, _ = PEERS[client]
    asked = agents.asked
    with pytest.raises((MCPError, ExceptionGroup)):
        asyncio.run(peer(asked.url, unknown_like(asked.token), asked.plan))


def test_a_client_in_typescript_is_told_why_it_is_refused(agents: Conversations, tmp_path: Path) -> None:
    told = json.dumps({"url": agents.asked.url, "token": unknown_like(agents.asked.token), "plan": {}})
    done = run_node(CLIENTS, home=tmp_path, standard_input=told)
    assert done.returncode != 0
    assert "unauthenticated" in done.stderr  # whichever of them gave up first


def unknown_like(token: str) -> str:
    """Of the same form, with another secret."""
    return token[:-1] + ("b" if token.endswith("a") else "a")


class Inspector:
    """The inspector's command line, told of the gateway as its users tell it: in a file."""

    def __init__(self, asked: Asked, home: Path) -> None:
        self.asked, self._home = asked, home
        server = {"type": "http", "url": asked.url, "headers": {"Authorization": f"Bearer {asked.token}"}}
        (home / "mcp.json").write_text(json.dumps({"mcpServers": {"gateway": server}}))

    def told(self, era: str, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Its exit code and the result that it shows."""
        always_told = ("--cli", "--config", "mcp.json", "--server", "gateway", "--format", "json", "--quiet")
        done = run_node(INSPECTOR, *always_told, "--protocol-era", era, *arguments, home=self._home)
        assert done.stdout, done.stderr
        result: dict[str, Any] = json.loads(done.stdout)["result"]
        return done.returncode, result

    def call(self, era: str, key: str) -> tuple[int, dict[str, Any]]:
        planned = self.asked.plan[key]
        arguments = json.dumps(planned.arguments)
        return self.told(era, "--method", "tools/call", "--tool-name", planned.tool, "--tool-args-json", arguments)


@pytest.fixture(scope="module")
def inspector(agents: Conversations, tmp_path_factory: pytest.TempPathFactory) -> Inspector:
    return Inspector(agents.asked, tmp_path_factory.mktemp("inspector"))


def test_the_inspector_finds_nothing_to_say_about_the_schemas_of_the_tools(inspector: Inspector) -> None:
    code, listed = inspector.told("modern", "--method", "tools/list", "--strict")
    assert (code, [tool["name"] for tool in listed["tools"]]) == (0, FOR_AGENTS)


@each_era
def test_the_inspector_searches(inspector: Inspector, era: str) -> None:
    code, result = inspector.call(era, "search")
    assert code == 0
    assert always(said_by(result).structured) == always(inspector.asked.rest("search"))
