"""The whole gateway as one CloudFormation stack."""

from __future__ import annotations

from aws_cdk import CfnOutput, IStackSynthesizer, Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.bundles.build import build_bundles
from infra.bundles.target import Target
from infra.constructs.alarm_topic import AlarmTarget
from infra.constructs.alarms import alarm_on_refused_admins, alarm_on_unreviewed_units
from infra.constructs.data import Data
from infra.constructs.gateway_function import FunctionRole, environment_of, lambda_function
from infra.constructs.http_api import HttpApi
from infra.constructs.keys import NAMES, Keys
from infra.constructs.names import camel
from infra.constructs.pool_secrets import PoolSecrets
from infra.constructs.roles import permit
from infra.constructs.root_secret import RootSecret
from infra.constructs.schedule import run_by_the_clock
from infra.constructs.tables import Tables
from infra.functions import FUNCTIONS
from infra.pools import POOL_VARIABLES
from infra.tables import TABLES


class KnowledgeGatewayStack(Stack):
    """Five tables, two keys, four secrets, one function and one role per entry of `FUNCTIONS`, one HTTP API, and a
    schedule for what runs by the clock.

    `disposable` lets everything go with the stack, data included; for rehearsals. Nothing else depends on it.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        target: Target,
        disposable: bool = False,
        alarm_email: str = "",
        alarm_topic_arn: str = "",
        synthesizer: IStackSynthesizer | None = None,
    ) -> None:
        super().__init__(scope, name, description="Knowledge Gateway", synthesizer=synthesizer)
        self._roles = {
            function.name: FunctionRole(self, camel(function.name) + "Access", function=function, disposable=disposable)
            for function in FUNCTIONS
        }
        keys = Keys(
            self,
            "Keys",
            roles={name: access.role for name, access in self._roles.items()},
            functions=FUNCTIONS,
            disposable=disposable,
        )
        self._data = Data(
            tables=Tables(self, "Tables", disposable=disposable),
            keys=keys,
            root_secret=RootSecret(self, "RootAdmin", disposable=disposable),
            pool_secrets=PoolSecrets(self, "Pools", disposable=disposable),
        )
        functions = self._functions(target)
        api = HttpApi(self, "HttpApi", functions=functions, disposable=disposable)
        for function in FUNCTIONS:
            if function.every_min:
                run_by_the_clock(self, function, target=functions[function.name])
        self.alarms = AlarmTarget(self, "Alarms", email=alarm_email, topic_arn=alarm_topic_arn)
        refused_admins = alarm_on_refused_admins(self, log=self._roles["admin"].log)
        asking = [function.name for function in FUNCTIONS if function.reads_pools]
        unreviewed = alarm_on_unreviewed_units(self, logs_of={name: self._roles[name].log for name in asking})
        self.alarms.tell_of(refused_admins, unreviewed)
        self._outputs(api, functions)

    def _functions(self, target: Target) -> dict[str, lambda_.Function]:
        bundles = build_bundles([function.name for function in FUNCTIONS], target)
        made: dict[str, lambda_.Function] = {}
        for function in FUNCTIONS:
            access = self._roles[function.name]
            policy = permit(access.role, function, self._data)
            made[function.name] = lambda_function(
                self,
                camel(function.name) + "Function",
                function=function,
                bundle=bundles[function.name],
                target=target,
                log=access.log,
                role=access.role.without_policy_updates(),
                environment=environment_of(function, self._data),
            )
            if policy is not None:  # the first request must not find a role without its policy
                made[function.name].node.add_dependency(policy)
        return made

    def _outputs(self, api: HttpApi, functions: dict[str, lambda_.Function]) -> None:
        CfnOutput(self, "ApiUrl", value=api.url)
        CfnOutput(self, "RootSecretArn", value=self._data.root_secret.arn)
        for pool in POOL_VARIABLES:
            CfnOutput(self, f"Pool{camel(pool)}SecretArn", value=self._data.pool_secrets[pool])
        for table in TABLES:
            CfnOutput(self, "Table" + camel(table.name) + "Name", value=self._data.tables[table].table_name)
        for exposure, name in NAMES.items():
            CfnOutput(self, f"Key{name}Arn", value=self._data.keys[exposure].key_arn)
        for name, function in functions.items():
            CfnOutput(self, f"Function{camel(name)}Name", value=function.function_name)
