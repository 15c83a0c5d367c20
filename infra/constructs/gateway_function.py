"""One Lambda function with its log and its role."""

from __future__ import annotations

from pathlib import Path

from aws_cdk import Aws, Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.constructs.data import Data
from infra.constructs.log_groups import log_group
from infra.constructs.names import camel, pin
from infra.constructs.roles import role_for
from infra.functions import (
    FRONT_VARIABLE,
    KEY_VARIABLES,
    ORIGINS_VARIABLE,
    RELEASE_VARIABLE,
    ROOT_SECRET_VARIABLE,
    TELLS_RELEASE,
    Function,
    is_behind_front,
)
from infra.pools import POOL_VARIABLES
from infra.switches import Switches
from shared.measures import NAMESPACE_VARIABLE


class FunctionRole(Construct):
    """The log and the role, which exist before the keys do."""

    def __init__(self, scope: Construct, name: str, *, function: Function, switches: Switches) -> None:
        super().__init__(scope, name)
        self.log = log_group(self, "Log", logical_id="Log" + camel(function.name), switches=switches)
        self.role = role_for(
            self,
            "Role",
            logs_to=self.log,
            traces=switches.tracing,
            connects=bool(switches.vpc) and function.dials_out,
        )
        pin(self.role, "Role" + camel(function.name))


def environment_of(function: Function, data: Data, switches: Switches) -> dict[str, str]:
    """Names and ARNs, never a secret: those are read when they are needed."""
    environment = {NAMESPACE_VARIABLE: Aws.STACK_NAME}
    environment |= {table.variable: data.tables[table].table_name for table in function.tables}
    environment |= {KEY_VARIABLES[exposure]: data.keys[exposure].key_arn for exposure in function.keys}
    if function.reads_root_secret:
        environment[ROOT_SECRET_VARIABLE] = data.root_secret.arn
    environment |= {POOL_VARIABLES[pool]: data.pool_secrets[pool] for pool in function.reads_pools}
    if function.dials_out:
        environment["KG_PRIVATE_NETWORK_AVAILABLE"] = "true" if switches.vpc else "false"
    if switches.cloudfront and is_behind_front(function):
        environment[FRONT_VARIABLE] = "true"
    if switches.release and function.name == TELLS_RELEASE:
        environment[RELEASE_VARIABLE] = switches.release
    environment |= dict(function.settings)
    if ORIGINS_VARIABLE in environment:
        environment[ORIGINS_VARIABLE] = ",".join(switches.mcp_origins)
    return environment


def lambda_function(
    scope: Construct,
    name: str,
    *,
    function: Function,
    bundle: Path,
    switches: Switches,
    log: logs.ILogGroup,
    role: iam.IRole,
    environment: dict[str, str],
) -> lambda_.Function:
    """Runs `functions.<name>.handler.handler` out of the bundle."""
    made = lambda_.Function(
        scope,
        name,
        code=lambda_.Code.from_asset(str(bundle)),
        handler=f"functions.{function.name}.handler.handler",
        runtime=lambda_.Runtime(switches.target.runtime, lambda_.RuntimeFamily.PYTHON),
        architecture=lambda_.Architecture.custom(switches.target.architecture),
        memory_size=function.memory_mb,
        timeout=Duration.seconds(function.timeout_s),
        environment=environment,
        log_group=log,
        role=role,
        reserved_concurrent_executions=dict(switches.reserved_concurrency).get(function.name),
        tracing=lambda_.Tracing.ACTIVE if switches.tracing else None,
    )
    pin(made, "Function" + camel(function.name))
    return made
