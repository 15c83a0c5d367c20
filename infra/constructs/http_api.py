"""The HTTP API: one explicit route for each entry of the route table, each with its own throttle."""

from __future__ import annotations

import json
from collections.abc import Mapping

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.constructs.gateway_function import LOG_RETENTION
from infra.constructs.names import camel, pin
from infra.routes import DEFAULT_FUNCTION, ROUTES

# The most that API Gateway allows; a second more than the functions have.
INTEGRATION_TIMEOUT_MS = 30_000
DEFAULT_ROUTE = "$default"
DEFAULT_RATE_PER_S = 50
DEFAULT_BURST = 100

# The route's pattern instead of the path, and no address: paths hold ids, addresses are personal.
ACCESS_LOG = {
    "requestId": "$context.requestId",
    "time": "$context.requestTimeEpoch",
    "route": "$context.routeKey",
    "status": "$context.status",
    "answerBytes": "$context.responseLength",
    "answerMs": "$context.responseLatency",
    "functionMs": "$context.integrationLatency",
    "error": "$context.error.messageString",
}


class HttpApi(Construct):
    """`url` is where the API answers, without a slash at the end. CORS is the widget function's business, not its."""

    def __init__(
        self, scope: Construct, name: str, *, functions: Mapping[str, lambda_.IFunction], disposable: bool
    ) -> None:
        super().__init__(scope, name)
        self._api = apigateway.CfnApi(
            self, "Api", name=Stack.of(self).stack_name, protocol_type="HTTP", description="Knowledge Gateway"
        )
        pin(self._api, "HttpApi")
        routed = {route.function for route in ROUTES} | {DEFAULT_FUNCTION}
        targets = {name: self._integrate(name, functions[name]) for name in functions if name in routed}
        routes = [self._route(f"{route.method} {route.path}", targets[route.function]) for route in ROUTES]
        routes.append(self._route(DEFAULT_ROUTE, targets[DEFAULT_FUNCTION]))
        self._stage(routes, disposable=disposable)
        self.url = self._api.attr_api_endpoint

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

    def _stage(self, routes: list[apigateway.CfnRoute], *, disposable: bool) -> None:
        log = logs.LogGroup(
            self,
            "AccessLog",
            retention=LOG_RETENTION,
            removal_policy=RemovalPolicy.DESTROY if disposable else RemovalPolicy.RETAIN,
        )
        pin(log, "LogAccess")
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
            route_settings={
                f"{route.method} {route.path}": {
                    "ThrottlingRateLimit": route.rate_per_s,
                    "ThrottlingBurstLimit": route.burst,
                }
                for route in ROUTES
            },
        )
        for route in routes:  # settings may only name routes that exist
            stage.add_resource_dependency(route)
