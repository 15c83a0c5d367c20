"""One Lambda function with its log and its role."""

from __future__ import annotations

from pathlib import Path

from aws_cdk import Aws, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.bundles.target import Target
from infra.constructs.data import Data
from infra.constructs.names import camel, pin
from infra.constructs.roles import role_for
from infra.functions import KEY_VARIABLES, ROOT_SECRET_VARIABLE, Function
from infra.pools import POOL_VARIABLES
from shared.measures import NAMESPACE_VARIABLE

LOG_RETENTION = logs.RetentionDays.ONE_MONTH


class FunctionRole(Construct):
    """The log and the role, which exist before the keys do."""

    def __init__(self, scope: Construct, name: str, *, function: Function, disposable: bool) -> None:
        super().__init__(scope, name)
        self.log = logs.LogGroup(
            self,
            "Log",
            retention=LOG_RETENTION,
            removal_policy=RemovalPolicy.DESTROY if disposable else RemovalPolicy.RETAIN,
        )
        self.role = role_for(self, "Role", logs_to=self.log)
        pin(self.log, "Log" + camel(function.name))
        pin(self.role, "Role" + camel(function.name))


def environment_of(function: Function, data: Data) -> dict[str, str]:
    """Names and ARNs, never a secret: those are read when they are needed."""
    environment = {NAMESPACE_VARIABLE: Aws.STACK_NAME}
    environment |= {table.variable: data.tables[table].table_name for table in function.tables}
    environment |= {KEY_VARIABLES[exposure]: data.keys[exposure].key_arn for exposure in function.keys}
    if function.reads_root_secret:
        environment[ROOT_SECRET_VARIABLE] = data.root_secret.arn
    environment |= {POOL_VARIABLES[pool]: data.pool_secrets[pool] for pool in function.reads_pools}
    if function.dials_out:
        environment["KG_PRIVATE_NETWORK_AVAILABLE"] = "false"
    return environment | dict(function.settings)


def lambda_function(
    scope: Construct,
    name: str,
    *,
    function: Function,
    bundle: Path,
    target: Target,
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
        runtime=lambda_.Runtime(target.runtime, lambda_.RuntimeFamily.PYTHON),
        architecture=lambda_.Architecture.custom(target.architecture),
        memory_size=function.memory_mb,
        timeout=Duration.seconds(function.timeout_s),
        environment=environment,
        log_group=log,
        role=role,
    )
    pin(made, "Function" + camel(function.name))
    return made
