"""The Lambda functions: what they run on and what their environment says."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App

from infra.bundles.target import Target
from infra.functions import FUNCTIONS
from infra.local.functions import environments
from infra.rehearsal.differences import ALLOW_LOOPBACK_HTTP
from shared.settings.base import Settings
from shared.settings.cards import CardTable
from shared.settings.internal import InternalStore, RootAccess
from shared.settings.public import Network, PublicStore
from tests.infra.synthesised import Synthesised, synthesise

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = {"KG_TABLE_REGISTRATIONS_PUBLIC", "KG_TABLE_LEDGER_PUBLIC", "KG_KEY_PUBLIC", "KG_PRIVATE_NETWORK_AVAILABLE"}
BOTH = PUBLIC | {"KG_TABLE_REGISTRATIONS_INTERNAL", "KG_TABLE_LEDGER_INTERNAL", "KG_KEY_INTERNAL"}


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
        ("search", BOTH | {"KG_AGENT_CACHE_S", "KG_TABLE_CARDS"}),
        ("lookup", {"KG_TABLE_REGISTRATIONS_INTERNAL", "KG_TABLE_LEDGER_INTERNAL", "KG_TABLE_CARDS"}),
        ("admin", BOTH | {"KG_ROOT_SECRET", "KG_TABLE_CARDS"}),
        ("probe", {"KG_TABLE_CARDS"}),
    ],
)
def test_a_function_is_told_exactly_this(shipped: Synthesised, name: str, variables: set[str]) -> None:
    assert set(environment_of(shipped, name)) == variables


def test_the_environment_names_things_and_holds_no_secret(shipped: Synthesised) -> None:
    """A value is a reference to a table, a key or the secret, or one of the plain settings."""
    plain = {"KG_PRIVATE_NETWORK_AVAILABLE": "false", "KG_AGENT_CACHE_S": "0"}
    referenced = {
        "KG_TABLE_REGISTRATIONS_PUBLIC": {"Ref": "TableRegistrationsPublic"},
        "KG_TABLE_REGISTRATIONS_INTERNAL": {"Ref": "TableRegistrationsInternal"},
        "KG_TABLE_CARDS": {"Ref": "TableCards"},
        "KG_TABLE_LEDGER_PUBLIC": {"Ref": "TableLedgerPublic"},
        "KG_TABLE_LEDGER_INTERNAL": {"Ref": "TableLedgerInternal"},
        "KG_KEY_PUBLIC": {"Fn::GetAtt": ["KeyPublic", "Arn"]},
        "KG_KEY_INTERNAL": {"Fn::GetAtt": ["KeyInternal", "Arn"]},
        "KG_ROOT_SECRET": {"Fn::GetAtt": ["RootSecret", "Id"]},
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
        ("search", (PublicStore, InternalStore, Network)),
        ("admin", (PublicStore, InternalStore, CardTable, Network, RootAccess)),
    ],
)
def test_the_settings_of_a_function_find_all_they_need(
    shipped: Synthesised, name: str, parts: tuple[type[Settings], ...]
) -> None:
    given = {variable: str(value) for variable, value in environment_of(shipped, name).items()}
    read = [part.from_environment(given) for part in parts]
    assert Network(allow_loopback_http=False, private_network_available=False) in read


def test_the_embedded_runtime_tells_each_function_the_same_but_for_loopback(shipped: Synthesised) -> None:
    local = environments(store=defaultdict(str), client={})
    for one in FUNCTIONS:
        told = {name for name in local[one.name] if name.startswith("KG_")}
        expected = set(environment_of(shipped, one.name)) - {"KG_PRIVATE_NETWORK_AVAILABLE"}
        assert told == (expected | {ALLOW_LOOPBACK_HTTP} if one.dials_out else expected)


def test_no_switch_makes_the_stack_allow_http_on_loopback(tmp_path: Path, shipped: Synthesised) -> None:
    assert Network.model_fields["allow_loopback_http"].alias == ALLOW_LOOPBACK_HTTP
    assert ALLOW_LOOPBACK_HTTP not in json.dumps(shipped.template)
    tempting = {"disposable": "true", "allow_loopback_http": "true", ALLOW_LOOPBACK_HTTP: "true"}
    assert ALLOW_LOOPBACK_HTTP not in json.dumps(synthesise(tmp_path, **tempting).template)


def test_nothing_that_makes_the_stack_names_that_setting() -> None:
    makers = [*(ROOT / "infra").glob("*.py"), *(ROOT / "infra" / "constructs").rglob("*.py"), ROOT / "cdk.json"]
    makers += (ROOT / "infra" / "bundles").rglob("*.py")
    assert len(makers) > 20
    assert not [str(path) for path in makers if "LOOPBACK" in path.read_text().upper().replace(" ", "_")]


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


def test_the_app_takes_other_targets_from_its_context(tmp_path: Path) -> None:
    other = synthesise(tmp_path, architecture="x86_64")
    assert other.function("search")["Architectures"] == ["x86_64"]
    assert App().node.try_get_context("architecture") is None
