"""What holds data: it is protected, it keeps its name, and it is never made anew by a deployment."""

from __future__ import annotations

import base64
import hashlib
import zipfile

import pytest

from infra.functions import FUNCTIONS
from infra.pools import POOL_VARIABLES
from infra.tables import TABLES
from shared.domain.pools import KEYED_POOLS
from tests.infra.synthesised import Synthesised

TABLE = "AWS::DynamoDB::GlobalTable"
KEPT = {
    "TableRegistrationsPublic",
    "TableRegistrationsInternal",
    "TableCards",
    "TableLedgerPublic",
    "TableLedgerInternal",
    "KeyPublic",
    "KeyInternal",
    "RootSecret",
    "PoolContext7",
    "PoolExa",
    "PoolFirecrawl",
}


def test_the_things_with_data_keep_their_logical_ids(shipped: Synthesised) -> None:
    """CloudFormation replaces what is renamed: a table would come back empty, a key would open nothing."""
    kinds = {TABLE, "AWS::KMS::Key", "AWS::SecretsManager::Secret"}
    assert {name for name, one in shipped.resources.items() if one["Type"] in kinds} == KEPT


def test_what_holds_data_outlives_the_stack(shipped: Synthesised) -> None:
    for name in KEPT:
        assert shipped.resources[name]["DeletionPolicy"] == "Retain"
        assert shipped.resources[name]["UpdateReplacePolicy"] == "Retain"


def test_there_is_one_table_for_each_entry_of_the_list(shipped: Synthesised) -> None:
    assert len(shipped.of_type(TABLE)) == len(TABLES)


def test_every_table_is_on_demand_recoverable_protected_and_lets_rows_expire(shipped: Synthesised) -> None:
    for table in shipped.of_type(TABLE).values():
        assert table == {
            "AttributeDefinitions": [
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "S"},
            ],
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            "Replicas": [
                {
                    "DeletionProtectionEnabled": True,
                    "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
                    "Region": {"Ref": "AWS::Region"},
                }
            ],
            "SSESpecification": {"SSEEnabled": False},  # with a key that AWS owns
            "TimeToLiveSpecification": {"AttributeName": "expires_at", "Enabled": True},
        }


def test_the_root_secret_is_generated_exactly_so_for_ever(shipped: Synthesised) -> None:
    """Any change of this block would make CloudFormation generate another secret at the next deployment."""
    assert shipped.of_type("AWS::SecretsManager::Secret")["RootSecret"] == {
        "Description": "The secret part of the root admin token.",
        "GenerateSecretString": {
            "ExcludeCharacters": "ABCDEFGHIJKLMNOPQRSTUVWXYZghijklmnopqrstuvwxyz!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
            "ExcludePunctuation": True,
            "ExcludeUppercase": True,
            "IncludeSpace": False,
            "PasswordLength": 64,
            "RequireEachIncludedType": False,
        },
    }


@pytest.mark.parametrize(
    ("secret", "pool"), [("PoolContext7", "context7"), ("PoolExa", "exa"), ("PoolFirecrawl", "firecrawl")]
)
def test_a_pools_secret_is_made_without_keys_exactly_so_for_ever(
    shipped: Synthesised, disposable: Synthesised, secret: str, pool: str
) -> None:
    """Another value, or a generator, would be written over the operators' keys at the next deployment."""
    made = {"Description": f"The numbered keys of the pool {pool}.", "SecretString": "{}"}
    assert shipped.of_type("AWS::SecretsManager::Secret")[secret] == made
    assert disposable.of_type("AWS::SecretsManager::Secret")[secret] == made


def test_there_is_one_secret_for_each_pool_with_keys() -> None:
    assert tuple(POOL_VARIABLES) == KEYED_POOLS


def test_what_is_left_of_the_alphabet_is_hex(shipped: Synthesised) -> None:
    generator = shipped.of_type("AWS::SecretsManager::Secret")["RootSecret"]["GenerateSecretString"]
    printable = {chr(code) for code in range(33, 127)}
    assert printable - set(generator["ExcludeCharacters"]) == set("0123456789abcdef")


@pytest.mark.parametrize("key", ["KeyPublic", "KeyInternal"])
def test_keys_rotate_and_wait_a_month_before_they_go(shipped: Synthesised, key: str) -> None:
    properties = shipped.of_type("AWS::KMS::Key")[key]
    assert properties["EnableKeyRotation"] is True
    assert properties["PendingWindowInDays"] == 30


def test_each_key_has_an_alias_of_this_stack(shipped: Synthesised) -> None:
    aliases = {
        (one["AliasName"], one["TargetKeyId"]["Fn::GetAtt"][0]) for one in shipped.of_type("AWS::KMS::Alias").values()
    }
    assert aliases == {
        ("alias/KnowledgeGateway-public", "KeyPublic"),
        ("alias/KnowledgeGateway-internal", "KeyInternal"),
    }


def test_logs_end_after_a_month(shipped: Synthesised) -> None:
    logs = shipped.of_type("AWS::Logs::LogGroup")
    functions = {f"Log{one.name.capitalize()}" for one in FUNCTIONS}
    assert set(logs) == functions | {"LogAccess"}
    assert all(log["RetentionInDays"] == 30 for log in logs.values())


def test_the_switch_lets_everything_go_and_changes_nothing_else(shipped: Synthesised, disposable: Synthesised) -> None:
    for name in KEPT:
        assert disposable.resources[name]["DeletionPolicy"] == "Delete"
    for table in disposable.of_type(TABLE).values():
        assert table["Replicas"][0]["DeletionProtectionEnabled"] is False
    assert disposable.resources.keys() == shipped.resources.keys()
    for role in shipped.of_type("AWS::IAM::Role"):
        assert disposable.statements(role) == shipped.statements(role)


def test_the_outputs_say_where_everything_is(shipped: Synthesised) -> None:
    assert set(shipped.template["Outputs"]) == {
        "ApiUrl",
        "McpUrl",
        "ConsoleUrl",
        "WidgetScriptUrl",
        "WidgetPinnedScriptUrl",
        "WidgetScriptIntegrity",
        "RootSecretArn",
        "PoolContext7SecretArn",
        "PoolExaSecretArn",
        "PoolFirecrawlSecretArn",
        "TableRegistrationsPublicName",
        "TableRegistrationsInternalName",
        "TableCardsName",
        "TableLedgerPublicName",
        "TableLedgerInternalName",
        "KeyPublicArn",
        "KeyInternalArn",
        "FunctionSearchName",
        "FunctionWidgetName",
        "FunctionLookupName",
        "FunctionLiveName",
        "FunctionMcpName",
        "FunctionAdminName",
        "FunctionAssetsName",
        "FunctionProbeName",
    }


def test_the_pinned_script_and_its_integrity_are_of_the_bytes_that_are_deployed(shipped: Synthesised) -> None:
    outputs = shipped.template["Outputs"]
    path = outputs["WidgetPinnedScriptUrl"]["Value"]["Fn::Join"][1][-1]
    with zipfile.ZipFile(shipped.bundle("assets")) as archive:
        script = archive.read("functions/assets/static/widget/v1/knowledge-search.js")
    assert path == f"/widget/v1/knowledge-search.{hashlib.sha256(script).hexdigest()[:16]}.js"
    digest = base64.b64encode(hashlib.sha384(script).digest()).decode()
    assert outputs["WidgetScriptIntegrity"]["Value"] == f"sha384-{digest}"
    assert outputs["WidgetScriptUrl"]["Value"]["Fn::Join"][1][-1] == "/widget/v1/knowledge-search.js"
