"""The Lambda functions: what they run on and what their environment says."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from infra.bundles.target import Target
from infra.functions import FUNCTIONS
from infra.local.functions import environments
from infra.rehearsal.differences import ALLOW_LOOPBACK_HTTP
from shared.domain.pools import KEYED_POOLS, Pool
from shared.measures import NAMESPACE_VARIABLE
from shared.settings.base import Settings
from shared.settings.cards import CardTable
from shared.settings.internal import CallerStore, InternalStore, RootAccess
from shared.settings.live import LivePools, LocalOrigins
from shared.settings.mcp import McpOrigins
from shared.settings.probe import ProbePace
from shared.settings.public import Network, PublicStore
from tests.infra.synthesised import Synthesised, synthesise

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = {"KG_TABLE_REGISTRATIONS_PUBLIC", "KG_TABLE_LEDGER_PUBLIC", "KG_KEY_PUBLIC", "KG_PRIVATE_NETWORK_AVAILABLE"}
CALLERS = {"KG_TABLE_REGISTRATIONS_INTERNAL", "KG_TABLE_LEDGER_INTERNAL"}
BOTH = PUBLIC | CALLERS | {"KG_KEY_INTERNAL"}
LOCAL_ORIGINS = "KG_LOCAL_ORIGINS"
POOLS = {"KG_POOL_CONTEXT7", "KG_POOL_EXA", "KG_POOL_FIRECRAWL"}


def environment_of(shipped: Synthesised, name: str) -> dict[str, Any]:
    return shipped.function(name).get("Environment", {}).get("Variables", {})


def test_functions_ship_on_arm64_and_python_3_13(shipped: Synthesised) -> None:
    for function in shipped.of_type("AWS::Lambda::Function").values():
        assert function["Runtime"] == "python3.13"
        assert function["Architectures"] == ["arm64"]


def test_each_function_runs_its_own_handler_and_writes_its_own_log(shipped: Synthesised) -> None:
    for one in FUNCTIONS:
        function = shipped.function(one.name)
        assert function["Handler"] == f"functions.{one.name}.handler.handler"
        assert function["LoggingConfig"] == {"LogGroup": {"Ref": f"Log{one.name.capitalize()}"}}


@pytest.mark.parametrize(
    ("name", "variables"),
    [
        ("assets", set()),
        ("widget", PUBLIC),
        ("search", BOTH | {"KG_AGENT_CACHE_S", "KG_TABLE_CARDS", "KG_POOL_CONTEXT7", "KG_POOL_EXA"}),
        ("live", CALLERS | {"KG_POOL_EXA", "KG_POOL_FIRECRAWL", "KG_PRIVATE_NETWORK_AVAILABLE"}),
        ("lookup", CALLERS | {"KG_TABLE_CARDS"}),
        ("mcp", BOTH | POOLS | {"KG_AGENT_CACHE_S", "KG_TABLE_CARDS", "KG_MCP_ORIGINS"}),
        ("admin", BOTH | POOLS | {"KG_ROOT_SECRET", "KG_TABLE_CARDS"}),
        ("probe", BOTH | {"KG_TABLE_CARDS", "KG_PROBE_EVERY_S"}),
    ],
)
def test_a_function_is_told_exactly_this(shipped: Synthesised, name: str, variables: set[str]) -> None:
    assert set(environment_of(shipped, name)) == variables | {NAMESPACE_VARIABLE}


def test_the_environment_names_things_and_holds_no_secret(shipped: Synthesised) -> None:
    """A value is a reference to a table, a key or a secret, or one of the plain settings."""
    plain = {"KG_PRIVATE_NETWORK_AVAILABLE": "false", "KG_AGENT_CACHE_S": "0", "KG_PROBE_EVERY_S": "240"}
    plain |= {"KG_MCP_ORIGINS": ""}
    referenced = {
        "KG_TABLE_REGISTRATIONS_PUBLIC": {"Ref": "TableRegistrationsPublic"},
        "KG_TABLE_REGISTRATIONS_INTERNAL": {"Ref": "TableRegistrationsInternal"},
        "KG_TABLE_CARDS": {"Ref": "TableCards"},
        "KG_TABLE_LEDGER_PUBLIC": {"Ref": "TableLedgerPublic"},
        "KG_TABLE_LEDGER_INTERNAL": {"Ref": "TableLedgerInternal"},
        "KG_KEY_PUBLIC": {"Fn::GetAtt": ["KeyPublic", "Arn"]},
        "KG_KEY_INTERNAL": {"Fn::GetAtt": ["KeyInternal", "Arn"]},
        "KG_ROOT_SECRET": {"Fn::GetAtt": ["RootSecret", "Id"]},
        "KG_POOL_CONTEXT7": {"Fn::GetAtt": ["PoolContext7", "Id"]},
        "KG_POOL_EXA": {"Fn::GetAtt": ["PoolExa", "Id"]},
        "KG_POOL_FIRECRAWL": {"Fn::GetAtt": ["PoolFirecrawl", "Id"]},
        NAMESPACE_VARIABLE: {"Ref": "AWS::StackName"},
    }
    for one in FUNCTIONS:
        for name, value in environment_of(shipped, one.name).items():
            assert value == (plain | referenced)[name]


def test_no_secret_is_resolved_when_the_stack_is_deployed(shipped: Synthesised) -> None:
    assert "{{resolve:" not in json.dumps(shipped.template)


def test_the_widget_is_told_no_internal_name(shipped: Synthesised) -> None:
    assert "Internal" not in json.dumps(shipped.function("widget"))


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("widget", (PublicStore, Network)),
        ("search", (PublicStore, InternalStore, Network, LivePools)),
        ("live", (CallerStore, Network, LivePools)),
        ("mcp", (PublicStore, InternalStore, CardTable, Network, LivePools, McpOrigins)),
        ("admin", (PublicStore, InternalStore, CardTable, Network, RootAccess, LivePools)),
        ("probe", (PublicStore, InternalStore, CardTable, Network, ProbePace)),
    ],
)
def test_the_settings_of_a_function_find_all_they_need(
    shipped: Synthesised, name: str, parts: tuple[type[Settings], ...]
) -> None:
    given = {variable: str(value) for variable, value in environment_of(shipped, name).items()}
    read = [part.from_environment(given) for part in parts]
    assert Network(allow_loopback_http=False, private_network_available=False) in read


@pytest.mark.parametrize(
    ("name", "pools"),
    [
        ("search", {Pool.CONTEXT7, Pool.EXA}),
        ("live", {Pool.EXA, Pool.FIRECRAWL}),
        ("mcp", set(KEYED_POOLS)),
        ("admin", set(KEYED_POOLS)),
        ("widget", set()),
        ("probe", set()),
    ],
)
def test_a_function_finds_the_keys_of_the_services_that_it_asks(
    shipped: Synthesised, name: str, pools: set[Pool]
) -> None:
    given = {variable: str(value) for variable, value in environment_of(shipped, name).items()}
    assert set(LivePools.from_environment(given).secret_ids()) == pools


def test_the_embedded_runtime_tells_each_function_the_same_but_for_loopback(shipped: Synthesised) -> None:
    local = environments(store=defaultdict(str), client={})
    for one in FUNCTIONS:
        told = {name for name in local[one.name] if name.startswith("KG_")}
        expected = set(environment_of(shipped, one.name)) - {"KG_PRIVATE_NETWORK_AVAILABLE", NAMESPACE_VARIABLE}
        assert told == (expected | {ALLOW_LOOPBACK_HTTP} if one.dials_out else expected)


def test_the_functions_that_ask_live_services_or_look_at_them_are_told_where_their_stand_ins_are() -> None:
    origins = {"exa": "http://127.0.0.1:4001"}
    local = environments(store=defaultdict(lambda: "x"), client={}, local_origins=origins)
    told = {name: environment[LOCAL_ORIGINS] for name, environment in local.items() if LOCAL_ORIGINS in environment}
    assert told.keys() == {"search", "live", "mcp", "admin", "probe"}
    for name in told:
        assert LocalOrigins.from_environment(local[name]).local_origins == origins
    assert not any(LOCAL_ORIGINS in each for each in environments(store=defaultdict(str), client={}).values())


def test_no_switch_makes_the_stack_allow_http_on_loopback(tmp_path: Path, shipped: Synthesised) -> None:
    assert Network.model_fields["allow_loopback_http"].alias == ALLOW_LOOPBACK_HTTP
    assert LocalOrigins.model_fields["local_origins"].alias == LOCAL_ORIGINS
    assert ALLOW_LOOPBACK_HTTP not in json.dumps(shipped.template)
    assert LOCAL_ORIGINS not in json.dumps(shipped.template)
    for tempting in ("allow_loopback_http", ALLOW_LOOPBACK_HTTP, LOCAL_ORIGINS):
        with pytest.raises(ValueError, match=f"There is no switch {tempting}"):
            synthesise(tmp_path, **{tempting: "true"})


def test_nothing_that_makes_the_stack_names_those_settings() -> None:
    makers = [*(ROOT / "infra").glob("*.py"), *(ROOT / "infra" / "constructs").rglob("*.py"), ROOT / "cdk.json"]
    makers += (ROOT / "infra" / "bundles").rglob("*.py")
    assert len(makers) > 20
    for word in ("LOOPBACK", "LOCAL_ORIGINS"):
        assert not [str(path) for path in makers if word in path.read_text().upper().replace(" ", "_")]


def test_the_switches_of_cdk_json_are_those_that_are_shipped() -> None:
    cdk = json.loads((ROOT / "cdk.json").read_text())
    shipping = Target()
    assert cdk["context"]["architecture"] == shipping.architecture
    assert cdk["context"]["runtime"] == shipping.runtime
    assert cdk["context"]["disposable"] == "false"


def test_the_app_starts_with_the_environment_that_make_creates() -> None:
    command = json.loads((ROOT / "cdk.json").read_text())["app"]
    python, *rest = command.split()
    assert python == os.path.join(".venv", "bin", "python")
    assert rest == ["-m", "infra.app"]


def test_an_unknown_architecture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="architecture must be one of arm64, x86_64"):
        synthesise(tmp_path, architecture="mips")


def test_the_app_takes_other_targets_from_its_context(staging: Synthesised) -> None:
    assert {tuple(one["Architectures"]) for one in staging.of_type("AWS::Lambda::Function").values()} == {("x86_64",)}
