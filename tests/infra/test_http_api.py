"""The HTTP API: which function each route reaches, how often, for how long, and what is logged of it."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from functions.live.alexandria import DEADLINE_S as ALEXANDRIA_S
from functions.lookup.routes import DEADLINE_S as LOOKUP_S
from functions.mcp.glossary_tools import DEADLINE_S as GLOSSARY_S
from infra.constructs.front import READ_TIMEOUT_S
from infra.functions import FUNCTIONS
from infra.routes import DEFAULT_FUNCTION, ROUTES
from shared.adapters.aws import DOOR_CONNECT_S, DOOR_READ_S
from shared.providers.contract import LIMITS
from shared.services.acquire import LONGEST_S
from shared.services.open_line import CEILING_S
from shared.services.probe_providers import TOTAL_S
from shared.web.customer_requests import WIDGET_DEADLINE_MS
from shared.web.search_fields import DEFAULT_DEADLINE_MS, DeadlineMs
from tests.infra.synthesised import Synthesised


def functions_of_integrations(shipped: Synthesised) -> dict[str, str]:
    integrations = shipped.of_type("AWS::ApiGatewayV2::Integration")
    return {name: one["IntegrationUri"]["Fn::GetAtt"][0] for name, one in integrations.items()}


def functions_of_routes(shipped: Synthesised) -> dict[str, str]:
    functions = functions_of_integrations(shipped)
    reached = {}
    for route in shipped.of_type("AWS::ApiGatewayV2::Route").values():
        prefix, integration = route["Target"]["Fn::Join"][1]
        assert prefix == "integrations/"
        reached[route["RouteKey"]] = functions[integration["Ref"]]
    return reached


def stage(shipped: Synthesised) -> dict[str, Any]:
    (one,) = shipped.of_type("AWS::ApiGatewayV2::Stage").values()
    return one


def test_every_route_reaches_its_function_and_there_are_no_others(shipped: Synthesised) -> None:
    wanted = {f"{route.method} {route.path}": f"Function{route.function.capitalize()}" for route in ROUTES}
    wanted["$default"] = f"Function{DEFAULT_FUNCTION.capitalize()}"
    assert functions_of_routes(shipped) == wanted


def test_the_widget_and_the_search_are_different_functions(shipped: Synthesised) -> None:
    reached = functions_of_routes(shipped)
    assert reached["POST /api/v1/knowledge/search"] == "FunctionSearch"
    assert reached["POST /api/v1/knowledge/widget/search"] == "FunctionWidget"
    assert reached["OPTIONS /api/v1/knowledge/widget/search"] == "FunctionWidget"


def test_every_route_has_its_throttle(shipped: Synthesised) -> None:
    assert stage(shipped)["RouteSettings"] == {
        f"{route.method} {route.path}": {
            "ThrottlingBurstLimit": route.burst,
            "ThrottlingRateLimit": route.rate_per_s,
        }
        for route in ROUTES
    }
    default = stage(shipped)["DefaultRouteSettings"]
    assert default == {"ThrottlingBurstLimit": 100, "ThrottlingRateLimit": 50}


def test_the_stage_is_made_after_the_routes_that_its_settings_name(shipped: Synthesised) -> None:
    (one,) = [r for r in shipped.resources.values() if r["Type"] == "AWS::ApiGatewayV2::Stage"]
    assert set(one["DependsOn"]) >= set(shipped.of_type("AWS::ApiGatewayV2::Route"))


def test_the_stage_adds_nothing_to_the_path(shipped: Synthesised) -> None:
    assert stage(shipped)["StageName"] == "$default"
    assert stage(shipped)["AutoDeploy"] is True


def test_the_access_log_holds_no_query_no_body_no_path_and_no_address(shipped: Synthesised) -> None:
    settings = stage(shipped)["AccessLogSettings"]
    assert settings["DestinationArn"] == {"Fn::GetAtt": ["LogAccess", "Arn"]}
    assert set(json.loads(settings["Format"]).values()) == {
        "$context.requestId",
        "$context.integration.requestId",
        "$context.requestTimeEpoch",
        "$context.routeKey",
        "$context.status",
        "$context.responseLength",
        "$context.responseLatency",
        "$context.integrationLatency",
        "$context.error.messageString",
    }


def test_the_gateway_answers_no_cors_itself(shipped: Synthesised) -> None:
    (api,) = shipped.of_type("AWS::ApiGatewayV2::Api").values()
    assert "CorsConfiguration" not in api
    assert api["ProtocolType"] == "HTTP"


def test_functions_get_the_second_format_of_events(shipped: Synthesised) -> None:
    for integration in shipped.of_type("AWS::ApiGatewayV2::Integration").values():
        assert integration["PayloadFormatVersion"] == "2.0"
        assert integration["IntegrationType"] == "AWS_PROXY"


def test_only_this_api_may_invoke_the_functions(shipped: Synthesised) -> None:
    permissions = shipped.of_type("AWS::Lambda::Permission").values()
    assert len(permissions) == len(shipped.of_type("AWS::ApiGatewayV2::Integration"))
    for permission in permissions:
        assert permission["Principal"] == "apigateway.amazonaws.com"
        assert permission["Action"] == "lambda:InvokeFunction"
        parts = permission["SourceArn"]["Fn::Join"][1]
        assert parts[-1] == "/*/*"
        assert parts[-2] == {"Ref": "HttpApi"}


def test_what_runs_by_the_clock_cannot_be_called_over_http(shipped: Synthesised) -> None:
    by_the_clock = {f"Function{one.name.capitalize()}" for one in FUNCTIONS if one.every_min}
    assert by_the_clock == {"FunctionProbe"}
    assert not by_the_clock & set(functions_of_integrations(shipped).values())
    permitted = {one["FunctionName"]["Fn::GetAtt"][0] for one in shipped.of_type("AWS::Lambda::Permission").values()}
    assert not by_the_clock & permitted


def test_the_probe_runs_every_five_minutes(shipped: Synthesised) -> None:
    assert shipped.of_type("AWS::Scheduler::Schedule") == {
        "ScheduleProbe": {
            "Description": "Runs the probe function.",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "ScheduleExpression": "rate(5 minutes)",
            "Target": {
                "Arn": {"Fn::GetAtt": ["FunctionProbe", "Arn"]},
                "Input": "{}",
                "RetryPolicy": {"MaximumRetryAttempts": 0},
                "RoleArn": {"Fn::GetAtt": ["RoleProbeClock", "Arn"]},
            },
        }
    }


def test_timeouts_nest(shipped: Synthesised) -> None:
    """A function that outlives its caller answers nobody; a search that outlives its function says nothing."""
    (integration_ms,) = {one["TimeoutInMillis"] for one in shipped.of_type("AWS::ApiGatewayV2::Integration").values()}
    asked = {one.name for one in FUNCTIONS if not one.every_min}
    (function_s,) = {shipped.function(name)["Timeout"] for name in asked}
    longest_search_s = TypeAdapter(DeadlineMs).json_schema()["maximum"] / 1000
    at_the_door_s = DOOR_CONNECT_S + DOOR_READ_S
    assert READ_TIMEOUT_S > integration_ms / 1000 > function_s
    assert (integration_ms, function_s) == (30_000, 29)
    for own_time_s in (longest_search_s, CEILING_S, LONGEST_S, LOOKUP_S, GLOSSARY_S, ALEXANDRIA_S):
        assert function_s >= at_the_door_s + own_time_s + 2
    assert longest_search_s >= DEFAULT_DEADLINE_MS / 1000 > LIMITS.timeout_s
    assert DEFAULT_DEADLINE_MS > WIDGET_DEADLINE_MS


def test_what_runs_by_the_clock_ends_before_lambda_ends_it(shipped: Synthesised) -> None:
    assert shipped.function("probe")["Timeout"] >= TOTAL_S + 5
