"""What each role may do, compared with literal lists. A line more is a decision: change the list with the grant."""

from __future__ import annotations

from typing import Any

import pytest

from infra.functions import FUNCTIONS
from tests.infra.synthesised import Synthesised

PUBLIC_KEY = "StringEquals kms:EncryptionContext:exposure = customer_safe"
INTERNAL_KEY = "StringEquals kms:EncryptionContext:exposure = agent_only"

WIDGET = [
    ("dynamodb:BatchGetItem", "TableLedgerPublic.Arn", ""),
    ("dynamodb:BatchGetItem", "TableRegistrationsPublic.Arn", ""),
    ("dynamodb:GetItem", "TableRegistrationsPublic.Arn", ""),
    ("dynamodb:PutItem", "TableLedgerPublic.Arn", ""),
    ("dynamodb:Query", "TableRegistrationsPublic.Arn", ""),
    ("dynamodb:UpdateItem", "TableLedgerPublic.Arn", ""),
    ("kms:Decrypt", "KeyPublic.Arn", PUBLIC_KEY),
    ("logs:CreateLogStream", "LogWidget.Arn", ""),
    ("logs:PutLogEvents", "LogWidget.Arn", ""),
]


POOLS = ("POOL#context7", "POOL#deepwiki", "POOL#exa", "POOL#firecrawl", "POOL#mintlify")


REGISTERED = ("BINDING_TARGET", "INSTANCE", "INSTANCE_NAME", "NAME", "PROVIDER")


def keys(*partitions: str) -> str:
    return f"ForAllValues:StringLike dynamodb:LeadingKeys = {' | '.join(partitions)}"


SEARCH = [
    ("dynamodb:BatchGetItem", "TableCards.Arn", keys("CARD#*", "COLLECTION")),
    ("dynamodb:BatchGetItem", "TableLedgerInternal.Arn", keys("CIRCUITS")),
    ("dynamodb:BatchGetItem", "TableLedgerPublic.Arn", keys("CIRCUITS")),
    ("dynamodb:BatchGetItem", "TableRegistrationsInternal.Arn", keys("CREDENTIAL", "GENERATION")),
    ("dynamodb:BatchGetItem", "TableRegistrationsPublic.Arn", keys("GENERATION")),
    ("dynamodb:GetItem", "TableCards.Arn", keys("COLLECTION")),
    (
        "dynamodb:GetItem",
        "TableLedgerInternal.Arn",
        keys("POOL#context7", "POOL#deepwiki", "POOL#exa", "POOL#mintlify"),
    ),
    ("dynamodb:GetItem", "TableRegistrationsInternal.Arn", keys("GENERATION")),
    ("dynamodb:GetItem", "TableRegistrationsPublic.Arn", keys("GENERATION")),
    ("dynamodb:PutItem", "TableLedgerInternal.Arn", keys("HISTORY#*")),
    ("dynamodb:PutItem", "TableLedgerPublic.Arn", keys("HISTORY#*")),
    ("dynamodb:Query", "TableCards.Arn", keys("KEY#*")),
    ("dynamodb:Query", "TableRegistrationsInternal.Arn", keys("INSTANCE", "PROVIDER")),
    ("dynamodb:Query", "TableRegistrationsPublic.Arn", keys("INSTANCE", "PROVIDER")),
    (
        "dynamodb:UpdateItem",
        "TableLedgerInternal.Arn",
        keys("CIRCUITS", "POOL#context7", "POOL#deepwiki", "POOL#exa", "POOL#mintlify", "RATE#*"),
    ),
    ("dynamodb:UpdateItem", "TableLedgerPublic.Arn", keys("CIRCUITS")),
    ("kms:Decrypt", "KeyInternal.Arn", INTERNAL_KEY),
    ("kms:Decrypt", "KeyPublic.Arn", PUBLIC_KEY),
    ("logs:CreateLogStream", "LogSearch.Arn", ""),
    ("logs:PutLogEvents", "LogSearch.Arn", ""),
    ("secretsmanager:GetSecretValue", "PoolContext7.Id", ""),
    ("secretsmanager:GetSecretValue", "PoolExa.Id", ""),
]

LIVE = [
    ("dynamodb:BatchGetItem", "TableLedgerInternal.Arn", keys("CIRCUITS")),
    ("dynamodb:BatchGetItem", "TableRegistrationsInternal.Arn", keys("CREDENTIAL", "GENERATION")),
    ("dynamodb:GetItem", "TableLedgerInternal.Arn", keys("POOL#exa", "POOL#firecrawl", "QUOTE#*", "RECEIPT#*")),
    ("dynamodb:GetItem", "TableRegistrationsInternal.Arn", keys("GENERATION")),
    ("dynamodb:PutItem", "TableLedgerInternal.Arn", keys("HISTORY#*", "QUOTE#*", "RECEIPT#*")),
    ("dynamodb:Query", "TableRegistrationsInternal.Arn", keys("PROVIDER")),
    ("dynamodb:UpdateItem", "TableLedgerInternal.Arn", keys("CIRCUITS", "POOL#exa", "POOL#firecrawl", "RATE#*")),
    ("logs:CreateLogStream", "LogLive.Arn", ""),
    ("logs:PutLogEvents", "LogLive.Arn", ""),
    ("secretsmanager:GetSecretValue", "PoolExa.Id", ""),
    ("secretsmanager:GetSecretValue", "PoolFirecrawl.Id", ""),
]

LOOKUP = [
    ("dynamodb:BatchGetItem", "TableCards.Arn", keys("CARD#*", "COLLECTION", "KEY#*")),
    ("dynamodb:BatchGetItem", "TableRegistrationsInternal.Arn", keys("CREDENTIAL")),
    ("dynamodb:GetItem", "TableCards.Arn", keys("COLLECTION")),
    ("dynamodb:Query", "TableCards.Arn", keys("KEY#*")),
    ("dynamodb:UpdateItem", "TableLedgerInternal.Arn", keys("RATE#*")),
    ("logs:CreateLogStream", "LogLookup.Arn", ""),
    ("logs:PutLogEvents", "LogLookup.Arn", ""),
]

MCP = [
    ("dynamodb:BatchGetItem", "TableCards.Arn", keys("CARD#*", "COLLECTION", "KEY#*")),
    ("dynamodb:BatchGetItem", "TableLedgerInternal.Arn", keys("CIRCUITS")),
    ("dynamodb:BatchGetItem", "TableLedgerPublic.Arn", keys("CIRCUITS")),
    ("dynamodb:BatchGetItem", "TableRegistrationsInternal.Arn", keys("CREDENTIAL", "GENERATION")),
    ("dynamodb:BatchGetItem", "TableRegistrationsPublic.Arn", keys("GENERATION")),
    ("dynamodb:GetItem", "TableCards.Arn", keys("COLLECTION")),
    ("dynamodb:GetItem", "TableLedgerInternal.Arn", keys(*POOLS)),
    ("dynamodb:GetItem", "TableRegistrationsInternal.Arn", keys("GENERATION")),
    ("dynamodb:GetItem", "TableRegistrationsPublic.Arn", keys("GENERATION")),
    ("dynamodb:PutItem", "TableLedgerInternal.Arn", keys("HISTORY#*")),
    ("dynamodb:PutItem", "TableLedgerPublic.Arn", keys("HISTORY#*")),
    ("dynamodb:Query", "TableCards.Arn", keys("KEY#*")),
    ("dynamodb:Query", "TableRegistrationsInternal.Arn", keys("INSTANCE", "PROVIDER")),
    ("dynamodb:Query", "TableRegistrationsPublic.Arn", keys("INSTANCE", "PROVIDER")),
    ("dynamodb:UpdateItem", "TableLedgerInternal.Arn", keys("CIRCUITS", *POOLS, "RATE#*")),
    ("dynamodb:UpdateItem", "TableLedgerPublic.Arn", keys("CIRCUITS")),
    ("kms:Decrypt", "KeyInternal.Arn", INTERNAL_KEY),
    ("kms:Decrypt", "KeyPublic.Arn", PUBLIC_KEY),
    ("logs:CreateLogStream", "LogMcp.Arn", ""),
    ("logs:PutLogEvents", "LogMcp.Arn", ""),
    ("secretsmanager:GetSecretValue", "PoolContext7.Id", ""),
    ("secretsmanager:GetSecretValue", "PoolExa.Id", ""),
    ("secretsmanager:GetSecretValue", "PoolFirecrawl.Id", ""),
]

ADMIN = [
    ("dynamodb:BatchGetItem", "TableCards.Arn", keys("CARD#*", "KEY#*")),
    ("dynamodb:BatchGetItem", "TableLedgerInternal.Arn", keys("CIRCUITS")),
    ("dynamodb:BatchGetItem", "TableLedgerPublic.Arn", keys("CIRCUITS")),
    ("dynamodb:BatchGetItem", "TableRegistrationsInternal.Arn", keys("CREDENTIAL", "PROVIDER")),
    ("dynamodb:BatchGetItem", "TableRegistrationsPublic.Arn", keys("PROVIDER")),
    ("dynamodb:ConditionCheckItem", "TableRegistrationsInternal.Arn", keys("CREDENTIAL", "INSTANCE", "ROOT")),
    ("dynamodb:ConditionCheckItem", "TableRegistrationsPublic.Arn", keys("INSTANCE")),
    ("dynamodb:DeleteItem", "TableCards.Arn", keys("CARD#*", "COLLECTION_NAME", "KEY#*")),
    ("dynamodb:DeleteItem", "TableRegistrationsInternal.Arn", keys(*REGISTERED, "CREDENTIAL", "INSTANCE_CREDENTIAL")),
    ("dynamodb:DeleteItem", "TableRegistrationsPublic.Arn", keys(*REGISTERED, "CREDENTIAL", "ORIGIN#*")),
    ("dynamodb:GetItem", "TableCards.Arn", keys("CARD#*", "COLLECTION")),
    ("dynamodb:GetItem", "TableLedgerInternal.Arn", keys("IDEMPOTENCY#*", *POOLS)),
    (
        "dynamodb:GetItem",
        "TableRegistrationsInternal.Arn",
        keys("CREDENTIAL", "FINGERPRINT_KEY", "INSTANCE", "INSTANCE_CREDENTIAL", "PROVIDER", "ROOT"),
    ),
    ("dynamodb:GetItem", "TableRegistrationsPublic.Arn", keys("CREDENTIAL", "INSTANCE", "PROVIDER")),
    ("dynamodb:PutItem", "TableCards.Arn", keys("CARD#*", "COLLECTION", "COLLECTION_NAME")),
    ("dynamodb:PutItem", "TableLedgerInternal.Arn", keys("HISTORY#*", "IDEMPOTENCY#*")),
    ("dynamodb:PutItem", "TableLedgerPublic.Arn", keys("HISTORY#*")),
    (
        "dynamodb:PutItem",
        "TableRegistrationsInternal.Arn",
        keys(*REGISTERED, "AUDIT", "CREDENTIAL", "FINGERPRINT_KEY", "ROOT"),
    ),
    ("dynamodb:PutItem", "TableRegistrationsPublic.Arn", keys(*REGISTERED, "CREDENTIAL", "ORIGIN#*")),
    ("dynamodb:Query", "TableCards.Arn", keys("CARD#*", "COLLECTION")),
    ("dynamodb:Query", "TableLedgerInternal.Arn", keys("HEALTH", "HISTORY#*")),
    ("dynamodb:Query", "TableLedgerPublic.Arn", keys("HISTORY#*")),
    ("dynamodb:Query", "TableRegistrationsInternal.Arn", keys(*REGISTERED, "AUDIT", "CREDENTIAL")),
    ("dynamodb:Query", "TableRegistrationsPublic.Arn", keys(*REGISTERED, "CREDENTIAL")),
    ("dynamodb:UpdateItem", "TableCards.Arn", keys("COLLECTION", "KEY#*")),
    ("dynamodb:UpdateItem", "TableLedgerInternal.Arn", keys("CIRCUITS", *POOLS, "RATE#*")),
    ("dynamodb:UpdateItem", "TableLedgerPublic.Arn", keys("CIRCUITS")),
    (
        "dynamodb:UpdateItem",
        "TableRegistrationsInternal.Arn",
        keys("GENERATION", "INSTANCE", "INSTANCE_CREDENTIAL", "PROVIDER"),
    ),
    ("dynamodb:UpdateItem", "TableRegistrationsPublic.Arn", keys("GENERATION", "INSTANCE", "PROVIDER")),
    ("kms:Decrypt", "KeyInternal.Arn", INTERNAL_KEY),
    ("kms:Decrypt", "KeyPublic.Arn", PUBLIC_KEY),
    ("kms:Encrypt", "KeyInternal.Arn", INTERNAL_KEY),
    ("kms:Encrypt", "KeyPublic.Arn", PUBLIC_KEY),
    ("logs:CreateLogStream", "LogAdmin.Arn", ""),
    ("logs:PutLogEvents", "LogAdmin.Arn", ""),
    ("secretsmanager:GetSecretValue", "PoolContext7.Id", ""),
    ("secretsmanager:GetSecretValue", "PoolExa.Id", ""),
    ("secretsmanager:GetSecretValue", "PoolFirecrawl.Id", ""),
    ("secretsmanager:GetSecretValue", "RootSecret.Id", ""),
]

ASSETS = [
    ("logs:CreateLogStream", "LogAssets.Arn", ""),
    ("logs:PutLogEvents", "LogAssets.Arn", ""),
]

PROBE = [
    ("dynamodb:BatchGetItem", "TableLedgerInternal.Arn", keys("CIRCUITS")),
    ("dynamodb:BatchGetItem", "TableLedgerPublic.Arn", keys("CIRCUITS")),
    ("dynamodb:BatchGetItem", "TableRegistrationsInternal.Arn", keys("GENERATION")),
    ("dynamodb:BatchGetItem", "TableRegistrationsPublic.Arn", keys("GENERATION")),
    ("dynamodb:BatchWriteItem", "TableCards.Arn", keys("CARD#*", "KEY#*")),
    ("dynamodb:DeleteItem", "TableCards.Arn", keys("COLLECTION")),
    ("dynamodb:DeleteItem", "TableLedgerInternal.Arn", keys("HEALTH")),
    ("dynamodb:GetItem", "TableCards.Arn", keys("COLLECTION")),
    ("dynamodb:GetItem", "TableLedgerInternal.Arn", keys("POOL#deepwiki", "POOL#mintlify")),
    ("dynamodb:GetItem", "TableRegistrationsInternal.Arn", keys("GENERATION")),
    ("dynamodb:GetItem", "TableRegistrationsPublic.Arn", keys("GENERATION")),
    ("dynamodb:PutItem", "TableLedgerInternal.Arn", keys("HEALTH", "HISTORY#*")),
    ("dynamodb:Query", "TableCards.Arn", keys("CARD#*", "COLLECTION", "KEY#*")),
    ("dynamodb:Query", "TableLedgerInternal.Arn", keys("HEALTH")),
    ("dynamodb:Query", "TableRegistrationsInternal.Arn", keys("INSTANCE", "PROVIDER")),
    ("dynamodb:Query", "TableRegistrationsPublic.Arn", keys("INSTANCE", "PROVIDER")),
    ("dynamodb:UpdateItem", "TableLedgerInternal.Arn", keys("CIRCUITS", "HEALTH", "POOL#deepwiki", "POOL#mintlify")),
    ("dynamodb:UpdateItem", "TableLedgerPublic.Arn", keys("CIRCUITS")),
    ("kms:Decrypt", "KeyInternal.Arn", INTERNAL_KEY),
    ("kms:Decrypt", "KeyPublic.Arn", PUBLIC_KEY),
    ("logs:CreateLogStream", "LogProbe.Arn", ""),
    ("logs:PutLogEvents", "LogProbe.Arn", ""),
]

ROLES = ("RoleWidget", "RoleSearch", "RoleLookup", "RoleLive", "RoleMcp", "RoleAdmin", "RoleAssets", "RoleProbe")
PROBE_CLOCK = [("lambda:InvokeFunction", "FunctionProbe.Arn", "")]


def test_the_widget_may_do_exactly_this(shipped: Synthesised) -> None:
    assert shipped.statements("RoleWidget") == WIDGET


def test_the_search_may_do_exactly_this(shipped: Synthesised) -> None:
    assert shipped.statements("RoleSearch") == SEARCH


def test_the_lookup_may_do_exactly_this(shipped: Synthesised) -> None:
    assert shipped.statements("RoleLookup") == LOOKUP


def test_the_live_function_may_do_exactly_this(shipped: Synthesised) -> None:
    assert shipped.statements("RoleLive") == LIVE


def test_the_mcp_function_may_do_exactly_this(shipped: Synthesised) -> None:
    assert shipped.statements("RoleMcp") == MCP


def test_the_mcp_function_may_do_nothing_that_no_other_function_of_its_callers_may(shipped: Synthesised) -> None:
    def allowed(role: str) -> set[tuple[str, str, str]]:
        return {
            (action, resource, partition)
            for action, resource, condition in shipped.statements(role)
            for partition in condition.partition(" = ")[2].split(" | ")
            if not action.startswith("logs:")
        }

    assert allowed("RoleMcp") <= allowed("RoleSearch") | allowed("RoleLookup") | allowed("RoleLive")


def test_the_admin_may_do_exactly_this(shipped: Synthesised) -> None:
    assert shipped.statements("RoleAdmin") == ADMIN


def test_the_assets_may_write_their_log_and_nothing_else(shipped: Synthesised) -> None:
    assert shipped.statements("RoleAssets") == ASSETS


def test_the_probe_may_do_exactly_this(shipped: Synthesised) -> None:
    assert shipped.statements("RoleProbe") == PROBE


def test_the_clock_may_invoke_the_probe_and_nothing_else(shipped: Synthesised) -> None:
    assert shipped.statements("RoleProbeClock") == PROBE_CLOCK


def test_there_are_no_other_roles_and_each_function_has_its_own(shipped: Synthesised) -> None:
    assert set(shipped.of_type("AWS::IAM::Role")) == {*ROLES, "RoleProbeClock"}
    roles = {name: one["Role"] for name, one in shipped.of_type("AWS::Lambda::Function").items()}
    assert roles == {
        f"Function{one.name.capitalize()}": {"Fn::GetAtt": [f"Role{one.name.capitalize()}", "Arn"]} for one in FUNCTIONS
    }


def test_only_the_scheduler_may_take_the_clocks_role_and_only_for_this_account(shipped: Synthesised) -> None:
    (statement,) = shipped.of_type("AWS::IAM::Role")["RoleProbeClock"]["AssumeRolePolicyDocument"]["Statement"]
    assert statement == {
        "Action": "sts:AssumeRole",
        "Condition": {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}},
        "Effect": "Allow",
        "Principal": {"Service": "scheduler.amazonaws.com"},
    }


def test_only_lambda_may_take_a_functions_role(shipped: Synthesised) -> None:
    for name, role in shipped.of_type("AWS::IAM::Role").items():
        if name == "RoleProbeClock":
            continue
        (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
        assert statement == {
            "Action": "sts:AssumeRole",
            "Effect": "Allow",
            "Principal": {"Service": "lambda.amazonaws.com"},
        }


def test_a_function_waits_for_its_policy(shipped: Synthesised) -> None:
    for name, policy in shipped.of_type("AWS::IAM::Policy").items():
        (role,) = policy["Roles"]
        function = role["Ref"].replace("Role", "Function")
        assert name in shipped.resources[function]["DependsOn"]


@pytest.mark.parametrize("role", ROLES)
def test_no_role_may_update_or_delete_an_audit_entry(shipped: Synthesised, role: str) -> None:
    writing = {"dynamodb:DeleteItem", "dynamodb:UpdateItem", "dynamodb:BatchWriteItem"}
    for action, resource, condition in shipped.statements(role):
        assert "*" not in action
        if resource == "TableRegistrationsInternal.Arn" and action in writing:
            assert condition.startswith("ForAllValues:StringLike dynamodb:LeadingKeys = ")
            assert "AUDIT" not in condition
            assert " *" not in condition


def test_nothing_is_granted_on_everything(shipped: Synthesised) -> None:
    for role in shipped.of_type("AWS::IAM::Role"):
        assert all("*" not in action and resource != "*" for action, resource, _ in shipped.statements(role))


def test_the_keys_of_services_are_read_by_these_roles_alone(shipped: Synthesised) -> None:
    """And nobody may write, list or describe one: that is the operator's."""
    uses = {
        (role, action, resource.removesuffix(".Id"))
        for role in shipped.of_type("AWS::IAM::Role")
        for action, resource, _ in shipped.statements(role)
        if resource.startswith("Pool")
    }
    assert {action for _, action, _ in uses} == {"secretsmanager:GetSecretValue"}
    assert {(role, secret) for role, _, secret in uses} == {
        ("RoleSearch", "PoolContext7"),
        ("RoleSearch", "PoolExa"),
        ("RoleLive", "PoolExa"),
        ("RoleLive", "PoolFirecrawl"),
        ("RoleMcp", "PoolContext7"),
        ("RoleMcp", "PoolExa"),
        ("RoleMcp", "PoolFirecrawl"),
        ("RoleAdmin", "PoolContext7"),
        ("RoleAdmin", "PoolExa"),
        ("RoleAdmin", "PoolFirecrawl"),
    }


def key_users(shipped: Synthesised, key: str) -> list[tuple[str, list[str], str]]:
    statements: list[dict[str, Any]] = shipped.of_type("AWS::KMS::Key")[key]["KeyPolicy"]["Statement"]
    users = [one for one in statements if one["Sid"] != "Administration"]
    return [
        (
            one["Principal"]["AWS"]["Fn::GetAtt"][0],
            one["Action"] if isinstance(one["Action"], list) else [one["Action"]],
            one["Condition"]["StringEquals"]["kms:EncryptionContext:exposure"],
        )
        for one in statements
        if one in users
    ]


def test_the_public_key_is_used_by_these_roles_alone(shipped: Synthesised) -> None:
    assert key_users(shipped, "KeyPublic") == [
        ("RoleSearch", ["kms:Decrypt"], "customer_safe"),
        ("RoleWidget", ["kms:Decrypt"], "customer_safe"),
        ("RoleMcp", ["kms:Decrypt"], "customer_safe"),
        ("RoleAdmin", ["kms:Decrypt", "kms:Encrypt"], "customer_safe"),
        ("RoleProbe", ["kms:Decrypt"], "customer_safe"),
    ]


def test_the_internal_key_is_used_by_these_roles_alone(shipped: Synthesised) -> None:
    assert key_users(shipped, "KeyInternal") == [
        ("RoleSearch", ["kms:Decrypt"], "agent_only"),
        ("RoleMcp", ["kms:Decrypt"], "agent_only"),
        ("RoleAdmin", ["kms:Decrypt", "kms:Encrypt"], "agent_only"),
        ("RoleProbe", ["kms:Decrypt"], "agent_only"),
    ]


@pytest.mark.parametrize("key", ["KeyPublic", "KeyInternal"])
def test_administering_a_key_does_not_include_using_it(shipped: Synthesised, key: str) -> None:
    statements = shipped.of_type("AWS::KMS::Key")[key]["KeyPolicy"]["Statement"]
    (administration,) = [one for one in statements if one["Sid"] == "Administration"]
    uses = {"Decrypt", "Encrypt", "GenerateDataKey", "ReEncrypt", "CreateGrant", "Sign", "GenerateMac"}
    for action in administration["Action"]:
        assert "*" not in action
        assert not any(action.startswith(f"kms:{use}") for use in uses)
