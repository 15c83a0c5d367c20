"""Each search function is built from its own variables alone, and names what is missing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from functions.lookup import wiring as lookup
from functions.mcp import wiring as mcp
from functions.mcp.settings import McpSettings
from functions.search import wiring as search
from functions.widget import wiring as widget
from shared.assembly.server_askers import server_askers
from shared.domain.registrations import SERVER_KINDS
from tests.support.fake_exchanges import FakeExchanges
from tests.support.fakes import FakeClock

PUBLIC = {
    "KG_TABLE_REGISTRATIONS_PUBLIC": "registrations-public",
    "KG_TABLE_LEDGER_PUBLIC": "ledger-public",
    "KG_KEY_PUBLIC": "key-public",
}
CARDS = {"KG_TABLE_CARDS": "cards"}
POOLS = {f"KG_POOL_{pool}": f"pool-{pool}" for pool in ("EXA", "FIRECRAWL")}
INTERNAL = {
    "KG_TABLE_REGISTRATIONS_INTERNAL": "registrations-internal",
    "KG_TABLE_LEDGER_INTERNAL": "ledger-internal",
    "KG_KEY_INTERNAL": "key-internal",
}


@pytest.fixture(autouse=True)
def _aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")


def test_the_widget_needs_the_public_variables_and_no_other() -> None:
    assert widget.wired(PUBLIC)
    for name in PUBLIC:
        with pytest.raises(ValidationError, match=name):
            widget.wired({key: value for key, value in PUBLIC.items() if key != name})


def test_the_widgets_settings_have_no_word_for_anything_internal() -> None:
    settings = widget.WidgetSettings.from_environment(PUBLIC | INTERNAL)
    assert "internal" not in repr(settings)


def test_a_search_needs_both_sides_and_the_cards() -> None:
    every = PUBLIC | INTERNAL | CARDS
    assert search.wired(every)
    for name in every:
        with pytest.raises(ValidationError, match=name):
            search.wired({key: value for key, value in every.items() if key != name})


def test_the_glossary_needs_callers_and_cards_and_no_key() -> None:
    needed = CARDS | {name: value for name, value in INTERNAL.items() if name != "KG_KEY_INTERNAL"}
    assert lookup.wired(needed)
    for name in needed:
        with pytest.raises(ValidationError, match=name):
            lookup.wired({key: value for key, value in needed.items() if key != name})


def test_the_tools_need_what_their_rest_functions_need() -> None:
    every = PUBLIC | INTERNAL | CARDS | POOLS
    assert mcp.wired(every).origins == frozenset()
    for name in every:
        with pytest.raises(ValidationError, match=name):
            mcp.wired({key: value for key, value in every.items() if key != name})


def test_pages_that_may_use_the_tools_are_listed_as_browsers_send_them() -> None:
    def origins(listed: str) -> frozenset[str]:
        return McpSettings.from_environment(PUBLIC | INTERNAL | CARDS | POOLS | {"KG_MCP_ORIGINS": listed}).mcp_origins

    assert origins("") == frozenset()
    assert origins("https://a.example, http://localhost:3000") == {"https://a.example", "http://localhost:3000"}
    for wrong in ("https://a.example/", "https://A.example", "null", "*", "a.example"):
        with pytest.raises(ValidationError, match="KG_MCP_ORIGINS"):
            origins(f"https://b.example,{wrong}")


@pytest.mark.parametrize(("value", "seconds"), [(None, 0), ("0", 0), ("120", 120)])
def test_the_agents_memory_is_off_unless_it_is_switched_on(value: str | None, seconds: float) -> None:
    extra = {} if value is None else {"KG_AGENT_CACHE_S": value}
    assert search.SearchSettings.from_environment(PUBLIC | INTERNAL | CARDS | extra).agent_cache_s == seconds


@pytest.mark.parametrize("value", ["121", "-1", "a while"])
def test_a_memory_beyond_two_minutes_is_refused_at_the_start(value: str) -> None:
    with pytest.raises(ValidationError, match="KG_AGENT_CACHE_S"):
        search.wired(PUBLIC | INTERNAL | CARDS | {"KG_AGENT_CACHE_S": value})


@pytest.mark.parametrize(
    ("settings", "environment"),
    [
        (search.SearchSettings.from_environment, PUBLIC | INTERNAL | CARDS),
        (widget.WidgetSettings.from_environment, PUBLIC),
        (McpSettings.from_environment, PUBLIC | INTERNAL | CARDS | POOLS),
    ],
)
def test_plain_http_and_private_networks_are_off_unless_switched_on(
    settings: Callable[[dict[str, str]], Any], environment: dict[str, str]
) -> None:
    made = settings(environment)
    assert (made.allow_loopback_http, made.private_network_available) == (False, False)


def test_every_kind_of_self_hosted_server_can_be_asked() -> None:
    clock = FakeClock()
    askers = server_askers(exchanges=FakeExchanges(clock=clock), allow_test_names=False, clock=clock)

    assert set(askers) == SERVER_KINDS


@pytest.mark.parametrize("function", ["search", "widget", "mcp"])
def test_no_kind_of_self_hosted_server_is_loaded_before_one_is_asked(function: str) -> None:
    said = subprocess.run(
        [sys.executable, "-c", f"import sys, functions.{function}.wiring; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(said.stdout.split())

    assert "shared.providers.contract" in loaded
    assert loaded.isdisjoint({f"shared.providers.{kind}" for kind in SERVER_KINDS} | {"shared.services.ask_server"})


def test_the_tools_load_nothing_of_live_services_before_one_is_needed() -> None:
    said = subprocess.run(
        [sys.executable, "-c", "import sys, functions.mcp.wiring; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(said.stdout.split())
    on_demand = {"shared.providers.exa", "shared.services.metering", "functions.mcp.acquire_tool"}
    on_demand |= {"shared.web.acquire_models", "shared.services.acquire", "ahocorasick_rs"}

    assert loaded.isdisjoint(on_demand)
