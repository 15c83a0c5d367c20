"""What the rehearsal deploys is the shipped stack but for three things; and it fails when a role may too much."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infra.rehearsal import differences, trial, widget_role
from infra.rehearsal.steps import Failed
from infra.rehearsal.trial_calls import Sealed, allowed, as_event, forbidden
from infra.rehearsal.updates import Kept
from infra.tables import LEDGER_PUBLIC, REGISTRATIONS_PUBLIC, TABLES
from shared.domain.pools import KEYED_POOLS, Pool
from tests.infra.synthesised import Synthesised

SEALED = Sealed(key_arn="arn:key", ciphertext=b"sealed", context={"exposure": "customer_safe"})


def outputs_of(shipped: Synthesised) -> dict[str, str]:
    return {name: f"physical-{name}" for name in shipped.template["Outputs"]}


def undone(node: Any) -> Any:
    """The three differences taken back, wherever they are."""
    if isinstance(node, list):
        return [undone(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        name.replace("StringEqualsIfExists", "StringEquals"): undone(each)
        for name, each in node.items()
        if name not in (differences.ALLOW_LOOPBACK_HTTP, differences.LOCAL_ORIGINS)
    }


def test_the_rehearsed_template_differs_in_three_things_alone(disposable: Synthesised, tmp_path: Path) -> None:
    path = tmp_path / "template.json"
    path.write_text(json.dumps(disposable.template))
    said = differences.adapt(path, local_origins={"exa": "http://127.0.0.1:4001"})
    adapted = json.loads(path.read_text())
    assert adapted != disposable.template
    assert undone(adapted) == disposable.template
    assert said == [
        "KG_ALLOW_LOOPBACK_HTTP=true for admin, live, mcp, probe, search, widget",
        "KG_LOCAL_ORIGINS for admin, live, mcp, probe, search",
        "StringEquals -> StringEqualsIfExists in 18 conditions on kms:EncryptionContext:*",
    ]


def test_no_other_condition_is_relaxed() -> None:
    template = {"Condition": {"StringEquals": {"aws:SourceAccount": "1"}}}
    before = copy.deepcopy(template)
    assert differences.relax_key_conditions(template) == 0
    assert template == before


def test_every_internal_table_and_the_key_and_the_secrets_are_tried(shipped: Synthesised) -> None:
    calls = forbidden(outputs_of(shipped), public=SEALED, internal=SEALED)
    tried = json.dumps(as_event(calls))
    for table in set(TABLES) - {REGISTRATIONS_PUBLIC, LEDGER_PUBLIC}:
        camel = "".join(part.capitalize() for part in table.name.split("-"))
        of_table = [call for call in calls if f"physical-Table{camel}Name" in json.dumps(call.parameters)]
        assert len({call.operation for call in of_table}) == 12
    assert "physical-RootSecretArn" in tried
    assert {call.operation for call in calls if call.about == "the internal key"} >= {"decrypt", "encrypt"}


@pytest.mark.parametrize("pool", KEYED_POOLS)
def test_the_keys_of_every_pool_are_tried(shipped: Synthesised, pool: Pool) -> None:
    calls = forbidden(outputs_of(shipped), public=SEALED, internal=SEALED)
    secret = {"SecretId": f"physical-Pool{pool.capitalize()}SecretArn"}
    assert {call.operation for call in calls if call.parameters.items() >= secret.items()} == {
        "get_secret_value",
        "describe_secret",
        "update_secret",
    }


def test_rows_of_live_services_are_tried_one_by_one(shipped: Synthesised) -> None:
    calls = forbidden(outputs_of(shipped), public=SEALED, internal=SEALED)
    tried = {(call.operation, call.parameters["Key"]["pk"]["S"]) for call in calls if "Key" in call.parameters}
    rows = [*(f"POOL#{pool}" for pool in KEYED_POOLS), "QUOTE#rehearsal", "RECEIPT#rehearsal"]
    assert tried >= {(operation, row) for operation in ("get_item", "update_item") for row in rows}


def test_trying_a_secret_as_the_operator_leaves_it_as_the_stack_made_it(shipped: Synthesised) -> None:
    made = {one["Description"] for one in shipped.of_type("AWS::SecretsManager::Secret").values()}
    calls = forbidden(outputs_of(shipped), public=SEALED, internal=SEALED)
    assert {call.parameters["Description"] for call in calls if call.operation == "update_secret"} == made


def test_what_the_widget_role_is_granted_is_what_is_tried_as_allowed(shipped: Synthesised) -> None:
    services = {"dynamodb": "dynamodb", "kms": "kms"}
    tried = {
        f"{services[call.service]}:{''.join(part.capitalize() for part in call.operation.split('_'))}"
        for call in allowed(outputs_of(shipped), SEALED)
    }
    granted = {action for action, _, _ in shipped.statements("RoleWidget") if not action.startswith("logs:")}
    assert tried == granted


def role_with(monkeypatch: pytest.MonkeyPatch, outcomes: dict[str, str]) -> widget_role.WidgetRole:
    """A role whose calls end as `outcomes` says by name of the operation, else as they should."""
    role = widget_role.WidgetRole.__new__(widget_role.WidgetRole)
    outputs = {
        f"{name}Name": name for name in ("TableRegistrationsPublic", "TableLedgerPublic", "TableRegistrationsInternal")
    } | {"TableLedgerInternalName": "l", "TableCardsName": "c", "RootSecretArn": "s", "FunctionSearchName": "f"}
    outputs |= {f"Pool{pool.capitalize()}SecretArn": pool for pool in KEYED_POOLS} | {"FunctionLiveName": "g"}
    role.allowed = allowed(outputs, SEALED)
    role.forbidden = forbidden(outputs, public=SEALED, internal=SEALED)

    def run(_functions: object, calls: list[Any]) -> tuple[str, list[str]]:
        usual = [trial.OK if call in role.allowed else "AccessDeniedException" for call in calls]
        return "3.13", [outcomes.get(str(call), one) for call, one in zip(calls, usual, strict=True)]

    monkeypatch.setattr(role, "_run", run, raising=False)
    monkeypatch.setattr(role, "_replace_code", lambda _functions: None, raising=False)
    monkeypatch.setattr(widget_role.boto3, "client", lambda _service: None)
    return role


def test_the_rehearsal_passes_when_all_is_refused_that_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    assert role_with(monkeypatch, {}).try_as_widget() == "3.13"


@pytest.mark.parametrize("outcome", ["ok", "ResourceNotFoundException", "ValidationException"])
def test_the_rehearsal_fails_when_a_call_is_not_refused_for_who_makes_it(
    monkeypatch: pytest.MonkeyPatch, outcome: str
) -> None:
    role = role_with(monkeypatch, {"dynamodb.get_item on Cards": outcome})
    with pytest.raises(Failed, match=r"dynamodb\.get_item on Cards"):
        role.try_as_widget()


def test_the_rehearsal_fails_when_the_widget_cannot_do_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    role = role_with(monkeypatch, {"kms.decrypt on the public key": "AccessDeniedException"})
    with pytest.raises(Failed, match=r"kms\.decrypt on the public key"):
        role.try_as_widget()


# --- the update ----------------------------------------------------------------------------------

BEFORE = Kept(outputs={"ApiUrl": "u"}, rows={"cards": 2, "ledger": 0}, secrets={"RootSecretArn": "s", "Pool": "{}"})


def test_an_update_that_keeps_everything_passes() -> None:
    grown = replace(BEFORE, rows={"cards": 1, "ledger": 3})
    assert grown.must_be_as_in(BEFORE) == "2 secrets, 4 rows in 2 tables"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"outputs": {"ApiUrl": "v"}}, "other outputs"),
        ({"rows": {"cards": 0, "ledger": 0}}, "cards"),
        ({"secrets": {"RootSecretArn": "t", "Pool": "{}"}}, "RootSecretArn"),
    ],
    ids=["outputs", "rows", "secrets"],
)
def test_an_update_that_makes_something_anew_fails(change: dict[str, Any], named: str) -> None:
    with pytest.raises(Failed, match=named) as told:
        replace(BEFORE, **change).must_be_as_in(BEFORE)
    assert "'t'" not in str(told.value)
