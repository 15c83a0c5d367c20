"""What each switch makes of the stack, and what it leaves alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra.functions import FUNCTIONS, is_behind_front
from infra.routes import ROUTES
from infra.tables import TABLES
from shared.settings.mcp import McpOrigins
from tests.infra.permissions import Granted, granted
from tests.infra.stages import CERTIFICATE, TOPIC
from tests.infra.synthesised import Synthesised

DIALLING = {one.name for one in FUNCTIONS if one.dials_out}
CONNECTING = {
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
}


def environment_of(stack: Synthesised, name: str) -> dict[str, Any]:
    return stack.function(name).get("Environment", {}).get("Variables", {})


def only(stack: Synthesised, kind: str) -> dict[str, Any]:
    (one,) = stack.of_type(kind).values()
    return one


# --- stages and tags -----------------------------------------------------------------------------


def names_given(node: Any) -> set[str]:
    """Every physical name, path or alias that a template chooses, as text."""
    found: set[str] = set()
    if isinstance(node, list):
        return found.union(*(names_given(each) for each in node))
    if isinstance(node, dict) and node.keys() != {"Name", "Value"}:  # such is a dimension of a metric
        for key, value in node.items():
            if key.endswith("Name") and key not in _NO_NAMES_OF_THINGS and not key.startswith(("Attribute", "Metric")):
                found.add(json.dumps(value, sort_keys=True))
            found |= names_given(value)
    return found


# Words of a schema, of a metric or of an alarm's dimension; names of parts inside a thing of ours.
_NO_NAMES_OF_THINGS = {"StageName", "FunctionName", "PolicyName", "HeaderName", "LogGroupName", "DisplayName"}
_OF_THE_STACK_OR_ITS_PARTS = ('{"Ref": ', '{"Fn::GetAtt": ', '"EveryNight"', '"Tables"', '"AliasName"')


@pytest.mark.parametrize("stage", ["staging", "everything"])
def test_no_name_of_one_stage_is_a_name_of_another(
    request: pytest.FixtureRequest, shipped: Synthesised, stage: str
) -> None:
    other: Synthesised = request.getfixturevalue(stage)
    of_both = names_given(shipped.template["Resources"]) & names_given(other.template["Resources"])
    assert {name for name in of_both if not name.startswith(_OF_THE_STACK_OR_ITS_PARTS)} == set()


def test_measures_and_alarms_of_a_stage_are_its_own(staging: Synthesised) -> None:
    own = {"Ref": "AWS::StackName"}
    for one in staging.of_type("AWS::Logs::MetricFilter").values():
        assert one["MetricTransformations"][0]["MetricNamespace"] == own
    for function in FUNCTIONS:
        assert environment_of(staging, function.name)["POWERTOOLS_METRICS_NAMESPACE"] == own


def test_every_stack_says_what_it_is_and_its_operator_may_say_more(shipped: Synthesised, staging: Synthesised) -> None:
    assert shipped.tags == {"product": "knowledge-gateway", "stage": "default"}
    assert staging.tags == {
        "product": "knowledge-gateway",
        "stage": "staging",
        "team": "support",
        "cost-centre": "4711",
    }


# --- limits and logs -----------------------------------------------------------------------------


def test_logs_are_kept_as_long_as_is_wished(staging: Synthesised) -> None:
    assert {one["RetentionInDays"] for one in staging.of_type("AWS::Logs::LogGroup").values()} == {90}


def test_instances_are_reserved_for_the_functions_that_are_named(shipped: Synthesised, staging: Synthesised) -> None:
    def reserved(stack: Synthesised) -> dict[str, int]:
        functions = stack.of_type("AWS::Lambda::Function").items()
        return {
            name: one["ReservedConcurrentExecutions"]
            for name, one in functions
            if "ReservedConcurrentExecutions" in one
        }

    assert reserved(shipped) == {}
    assert reserved(staging) == {"FunctionSearch": 50, "FunctionWidget": 100}


def test_given_throttles_take_the_place_of_the_routes_own(shipped: Synthesised, staging: Synthesised) -> None:
    before = only(shipped, "AWS::ApiGatewayV2::Stage")["RouteSettings"]
    after = only(staging, "AWS::ApiGatewayV2::Stage")["RouteSettings"]
    assert after["GET /api/v1/audit"] == {"ThrottlingRateLimit": 1, "ThrottlingBurstLimit": 2}
    of_admin = {f"{route.method} {route.path}" for route in ROUTES if route.function == "admin"} - {"GET /api/v1/audit"}
    assert all(after[key] == {"ThrottlingRateLimit": 5, "ThrottlingBurstLimit": 10} for key in of_admin)
    others = before.keys() - of_admin - {"GET /api/v1/audit"}
    assert {key: after[key] for key in others} == {key: before[key] for key in others}


def test_traces_take_two_actions_and_no_code(shipped: Synthesised, everything: Synthesised) -> None:
    for one in FUNCTIONS:
        assert everything.function(one.name)["TracingConfig"] == {"Mode": "Active"}
        assert "TracingConfig" not in shipped.function(one.name)
        more = set(everything.statements(f"Role{one.name.capitalize()}"))
        assert {action for action, resource, _ in more if resource == "*" and action.startswith("xray:")} == {
            "xray:PutTelemetryRecords",
            "xray:PutTraceSegments",
        }


def test_a_release_is_told_by_the_one_function_that_everybody_may_ask(everything: Synthesised) -> None:
    telling = {one.name for one in FUNCTIONS if "KG_RELEASE" in environment_of(everything, one.name)}
    assert telling == {"assets"}
    assert environment_of(everything, "assets")["KG_RELEASE"] == "2026-11.1"


def test_pages_that_may_use_the_tools_are_told_to_the_one_function_that_they_may_ask(staging: Synthesised) -> None:
    told = {one.name: environment_of(staging, one.name).get("KG_MCP_ORIGINS") for one in FUNCTIONS}
    assert told.pop("mcp") == "https://app.example.com,https://tools.example.com:8443"
    assert set(told.values()) == {None}
    read = McpOrigins.from_environment(environment_of(staging, "mcp")).mcp_origins
    assert read == {"https://app.example.com", "https://tools.example.com:8443"}


# --- where alarms go -----------------------------------------------------------------------------


def test_alarms_are_only_shown_unless_somebody_is_named(shipped: Synthesised) -> None:
    assert not any("AlarmActions" in one for one in shipped.of_type("AWS::CloudWatch::Alarm").values())
    assert not shipped.of_type("AWS::SNS::Topic")


def test_alarms_tell_the_operators_topic(staging: Synthesised) -> None:
    alarms = staging.of_type("AWS::CloudWatch::Alarm").values()
    assert {json.dumps(one[on]) for one in alarms for on in ("AlarmActions", "OKActions")} == {json.dumps([TOPIC])}
    assert not staging.of_type("AWS::SNS::Topic")


def test_alarms_tell_one_address_by_a_topic_of_the_stack(everything: Synthesised) -> None:
    alarms = everything.of_type("AWS::CloudWatch::Alarm").values()
    told = {json.dumps(one[on]) for one in alarms for on in ("AlarmActions", "OKActions")}
    assert told == {json.dumps([{"Ref": "AlarmTopic"}])}
    assert only(everything, "AWS::SNS::Subscription") == {
        "Endpoint": "operations@example.com",
        "Protocol": "email",
        "TopicArn": {"Ref": "AlarmTopic"},
    }
    statements = only(everything, "AWS::SNS::TopicPolicy")["PolicyDocument"]["Statement"]
    (publishing,) = [one for one in statements if one["Effect"] == "Allow"]
    assert publishing["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert publishing["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


# --- a name of one's own -------------------------------------------------------------------------


def test_under_its_own_name_the_api_has_none_of_awss(shipped: Synthesised, staging: Synthesised) -> None:
    assert "DisableExecuteApiEndpoint" not in only(shipped, "AWS::ApiGatewayV2::Api")
    assert only(staging, "AWS::ApiGatewayV2::Api")["DisableExecuteApiEndpoint"] is True
    assert only(staging, "AWS::ApiGatewayV2::DomainName") == {
        "DomainName": "origin.kb.example.com",
        "DomainNameConfigurations": [
            {"CertificateArn": CERTIFICATE, "EndpointType": "REGIONAL", "SecurityPolicy": "TLS_1_2"}
        ],
    }


def test_the_name_leads_to_the_root_of_the_stage(staging: Synthesised) -> None:
    mapping = only(staging, "AWS::ApiGatewayV2::ApiMapping")
    assert mapping == {"ApiId": {"Ref": "HttpApi"}, "DomainName": {"Ref": "DomainName"}, "Stage": "$default"}


def test_in_a_given_zone_the_name_is_made_to_point_there(staging: Synthesised, shipped: Synthesised) -> None:
    record = only(staging, "AWS::Route53::RecordSet")
    assert (record["Name"], record["Type"], record["HostedZoneId"]) == ("origin.kb.example.com", "A", "Z0123456789ABC")
    assert record["AliasTarget"]["DNSName"] == {"Fn::GetAtt": ["DomainName", "RegionalDomainName"]}
    assert not shipped.of_type("AWS::Route53::RecordSet")


# --- private networks ----------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["staging", "everything"])
def test_the_functions_that_dial_out_are_in_the_network_and_no_others(
    request: pytest.FixtureRequest, stage: str
) -> None:
    stack: Synthesised = request.getfixturevalue(stage)
    assert {one.name for one in FUNCTIONS if "VpcConfig" in stack.function(one.name)} == DIALLING
    for name in DIALLING:
        assert environment_of(stack, name)["KG_PRIVATE_NETWORK_AVAILABLE"] == "true"


@pytest.mark.parametrize("stage", ["staging", "everything"])
def test_lambda_may_connect_those_functions_and_their_code_may_not(request: pytest.FixtureRequest, stage: str) -> None:
    stack: Synthesised = request.getfixturevalue(stage)
    for one in FUNCTIONS:
        lines = [line for line in stack.statements(f"Role{one.name.capitalize()}") if line[0].startswith("ec2:")]
        assert {action for action, _, _ in lines} == (CONNECTING if one.dials_out else set())
        assert {line[1:] for line in lines} <= {("*", "Null lambda:SourceFunctionArn = true")}


def test_a_given_network_is_used_as_it_is(staging: Synthesised) -> None:
    assert staging.function("widget")["VpcConfig"] == {
        "SecurityGroupIds": ["sg-8c9d0e1f"],
        "SubnetIds": ["subnet-0a1b2c3d", "subnet-4e5f6a7b"],
    }
    assert not [kind for kind in {one["Type"] for one in staging.resources.values()} if kind.startswith("AWS::EC2::")]


def test_a_new_network_has_two_zones_a_way_out_in_each_and_none_in(everything: Synthesised) -> None:
    assert len(everything.of_type("AWS::EC2::Subnet")) == 4
    assert len(everything.of_type("AWS::EC2::NatGateway")) == 2
    assert not any(one.get("MapPublicIpOnLaunch") for one in everything.of_type("AWS::EC2::Subnet").values())
    group = everything.of_type("AWS::EC2::SecurityGroup")["SecurityGroupOutward"]
    assert "SecurityGroupIngress" not in group
    assert not everything.of_type("AWS::EC2::SecurityGroupIngress")
    (egress,) = group["SecurityGroupEgress"]
    assert (egress["CidrIp"], egress["IpProtocol"], egress["FromPort"], egress["ToPort"]) == (
        "0.0.0.0/0",
        "tcp",
        0,
        65535,
    )


def test_a_new_network_reaches_the_tables_directly_and_logs_what_it_refuses(everything: Synthesised) -> None:
    endpoint = only(everything, "AWS::EC2::VPCEndpoint")
    assert endpoint["VpcEndpointType"] == "Gateway"
    assert endpoint["ServiceName"]["Fn::Join"][1][-1] == ".dynamodb"
    flow_log = only(everything, "AWS::EC2::FlowLog")
    assert (flow_log["TrafficType"], flow_log["LogGroupName"]) == ("REJECT", {"Ref": "LogNetwork"})


def test_a_function_is_not_there_before_its_way_out_is(everything: Synthesised) -> None:
    routes = set(everything.of_type("AWS::EC2::Route"))
    waits_for = set(everything.resources["FunctionSearch"]["DependsOn"])
    assert len(waits_for & routes) == 2


# --- backups -------------------------------------------------------------------------------------


def test_backups_are_made_every_night_of_all_tables_and_kept_for_five_weeks(everything: Synthesised) -> None:
    plan = only(everything, "AWS::Backup::BackupPlan")["BackupPlan"]
    (rule,) = plan["BackupPlanRule"]
    assert rule["ScheduleExpression"] == "cron(0 3 * * ? *)"
    assert rule["Lifecycle"] == {"DeleteAfterDays": 35}
    assert rule["TargetBackupVault"] == {"Ref": "BackupVault"}
    selected = only(everything, "AWS::Backup::BackupSelection")["BackupSelection"]["Resources"]
    assert len(selected) == len(TABLES)
    assert {one["Fn::GetAtt"][0] for one in selected} == set(everything.of_type("AWS::DynamoDB::GlobalTable"))


def test_the_vault_outlives_the_stack(everything: Synthesised, shipped: Synthesised) -> None:
    assert everything.resources["BackupVault"]["DeletionPolicy"] == "Retain"
    assert not [kind for kind in {one["Type"] for one in shipped.resources.values()} if "Backup" in kind]


def test_the_role_of_backups_restores_nothing_and_reads_no_row(everything: Synthesised) -> None:
    actions = {action for action, _, _ in statements_of(everything, "RoleBackup")}
    assert actions == {
        "backup:CopyIntoBackupVault",
        "backup:DescribeBackupVault",
        "dynamodb:CreateBackup",
        "dynamodb:DeleteBackup",
        "dynamodb:DescribeBackup",
        "dynamodb:DescribeTable",
        "dynamodb:ListTagsOfResource",
        "dynamodb:StartAwsBackupJob",
    }


def statements_of(stack: Synthesised, role: str) -> list[tuple[str, str, str]]:
    own = stack.of_type("AWS::IAM::Role")[role]["Policies"]
    found = [statement for policy in own for statement in policy["PolicyDocument"]["Statement"]]
    return [(action, "", "") for statement in found for action in statement["Action"]]


# --- the front -----------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["staging", "everything"])
def test_every_function_that_reads_data_for_callers_waits_for_the_front(
    request: pytest.FixtureRequest, shipped: Synthesised, stage: str
) -> None:
    stack: Synthesised = request.getfixturevalue(stage)
    behind = {one.name for one in FUNCTIONS if is_behind_front(one)}
    assert {one.name for one in FUNCTIONS if "KG_FRONT_REQUIRED" in environment_of(stack, one.name)} == behind
    assert {environment_of(stack, name)["KG_FRONT_REQUIRED"] for name in behind} == {"true"}
    assert not any("KG_FRONT_REQUIRED" in environment_of(shipped, one.name) for one in FUNCTIONS)


def test_behind_the_front_a_role_may_read_one_row_more_and_nothing_else(
    shipped: Synthesised, everything: Synthesised
) -> None:
    row = Granted("dynamodb:GetItem", "TableRegistrationsInternal.Arn", "FRONT")
    for one in FUNCTIONS:
        role = f"Role{one.name.capitalize()}"
        needs_row = is_behind_front(one) and one.name != "widget"
        assert granted(everything, role) - granted(shipped, role) == ({row} if needs_row else set())
    widget = granted(everything, "RoleWidget")
    assert Granted("dynamodb:GetItem", "TableRegistrationsPublic.Arn") in widget
