"""The HTTP API: one explicit route for each entry of the route table, each with its own throttle."""

from __future__ import annotations

import json
from collections.abc import Mapping

from aws_cdk import Aws, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.constructs.custom_domain import CustomDomain
from infra.constructs.log_groups import log_group
from infra.constructs.names import camel, pin
from infra.routes import DEFAULT_FUNCTION, ROUTES, Route
from infra.switches import Switches

# The most that API Gateway allows; a second more than the functions have.
INTEGRATION_TIMEOUT_MS = 30_000
DEFAULT_ROUTE = "$default"
DEFAULT_RATE_PER_S = 50
DEFAULT_BURST = 100

# The route's pattern instead of the path, and no address: paths hold ids, addresses are personal.
ACCESS_LOG = {
    "requestId": "$context.requestId",
    "functionRequestId": "$context.integration.requestId",
    "time": "$context.requestTimeEpoch",
    "route": "$context.routeKey",
    "status": "$context.status",
    "answerBytes": "$context.responseLength",
    "answerMs": "$context.responseLatency",
    "functionMs": "$context.integrationLatency",
    "error": "$context.error.messageString",
}


class HttpApi(Construct):
    """`url` is where the API answers, without a slash at the end, and `host` its name. With a name of the operator's
    own it has none of AWS's. CORS is the widget function's business, not its.
    """

    def __init__(
        self, scope: Construct, name: str, *, functions: Mapping[str, lambda_.IFunction], switches: Switches
    ) -> None:
        super().__init__(scope, name)
        self._api = apigateway.CfnApi(
            self,
            "Api",
            name=Stack.of(self).stack_name,
            protocol_type="HTTP",
            description="Knowledge Gateway",
            disable_execute_api_endpoint=True if switches.domain_name else None,
        )
        pin(self._api, "HttpApi")
        routed = {route.function for route in ROUTES} | {DEFAULT_FUNCTION}
        targets = {name: self._integrate(name, functions[name]) for name in functions if name in routed}
        routes = [self._route(_key(route), targets[route.function]) for route in ROUTES]
        routes.append(self._route(DEFAULT_ROUTE, targets[DEFAULT_FUNCTION]))
        stage = self._stage(routes, switches)
        self.url = self._api.attr_api_endpoint
        self.host = f"{self._api.ref}.execute-api.{Aws.REGION}.{Aws.URL_SUFFIX}"
        self.domain: CustomDomain | None = None
        if switches.domain_name:
            self.domain = CustomDomain(self, "Domain", api_id=self._api.ref, stage=stage, switches=switches)
            self.url, self.host = f"https://{switches.domain_name}", switches.domain_name
        self.id = self._api.ref

    def _integrate(self, name: str, function: lambda_.IFunction) -> str:
        lambda_.CfnPermission(
            self,
            f"Invoke{camel(name)}",
            action="lambda:InvokeFunction",
            function_name=function.function_arn,
            principal="apigateway.amazonaws.com",
            source_arn=Stack.of(self).format_arn(service="execute-api", resource=self._api.ref, resource_name="*/*"),
        )
        integration = apigateway.CfnIntegration(
            self,
            f"Integration{camel(name)}",
            api_id=self._api.ref,
            integration_type="AWS_PROXY",
            integration_uri=function.function_arn,
            payload_format_version="2.0",
            timeout_in_millis=INTEGRATION_TIMEOUT_MS,
        )
        return f"integrations/{integration.ref}"

    def _route(self, key: str, target: str) -> apigateway.CfnRoute:
        return apigateway.CfnRoute(
            self, f"Route {key}".replace("/", "|"), api_id=self._api.ref, route_key=key, target=target
        )

    def _stage(self, routes: list[apigateway.CfnRoute], switches: Switches) -> apigateway.CfnStage:
        log = log_group(self, "AccessLog", logical_id="LogAccess", switches=switches)
        self.access_log: logs.ILogGroup = log
        stage = apigateway.CfnStage(
            self,
            "Stage",
            api_id=self._api.ref,
            stage_name="$default",
            auto_deploy=True,
            access_log_settings=apigateway.CfnStage.AccessLogSettingsProperty(
                destination_arn=log.log_group_arn, format=json.dumps(ACCESS_LOG)
            ),
            default_route_settings=apigateway.CfnStage.RouteSettingsProperty(
                throttling_rate_limit=DEFAULT_RATE_PER_S, throttling_burst_limit=DEFAULT_BURST
            ),
            route_settings={_key(route): _throttle(route, switches) for route in ROUTES},
        )
        for route in routes:  # settings may only name routes that exist
            stage.add_resource_dependency(route)
        return stage


def _key(route: Route) -> str:
    return f"{route.method} {route.path}"


def _throttle(route: Route, switches: Switches) -> dict[str, int]:
    given = switches.throttle_of(route.function, _key(route))
    return {
        "ThrottlingRateLimit": given.rate_per_s if given else route.rate_per_s,
        "ThrottlingBurstLimit": given.burst if given else route.burst,
    }
