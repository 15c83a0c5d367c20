"""The whole gateway as one CloudFormation stack."""

from __future__ import annotations

from aws_cdk import CfnOutput, IStackSynthesizer, Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from functions.assets.faces import CONSOLE, SCRIPT, WIDGET, integrity_of, pinned_name, present_script
from infra.bundles.build import build_bundles
from infra.constructs.alarm_topic import AlarmTarget
from infra.constructs.alarms import make_alarms
from infra.constructs.backups import Backups
from infra.constructs.dashboard import make_dashboard
from infra.constructs.data import Data
from infra.constructs.front import Front
from infra.constructs.gateway_function import FunctionRole, environment_of, lambda_function
from infra.constructs.http_api import HttpApi
from infra.constructs.keys import NAMES, Keys
from infra.constructs.metrics import Sources, count_lines
from infra.constructs.names import camel
from infra.constructs.network import place_for
from infra.constructs.pool_secrets import PoolSecrets
from infra.constructs.roles import permit
from infra.constructs.root_secret import RootSecret
from infra.constructs.schedule import run_by_the_clock
from infra.constructs.tables import Tables
from infra.functions import FUNCTIONS
from infra.pools import POOL_VARIABLES
from infra.switches import Switches
from infra.tables import TABLES
from infra.watching import ACCESS

PRODUCT = "knowledge-gateway"
DEFAULT_STAGE = "default"


class KnowledgeGatewayStack(Stack):
    """Five tables, two keys, four secrets, one function and one role per entry of `FUNCTIONS`, one HTTP API, and a
    schedule for what runs by the clock. What an operator may have beside them, or otherwise, `Switches` says.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        switches: Switches,
        synthesizer: IStackSynthesizer | None = None,
    ) -> None:
        super().__init__(
            scope,
            switches.stack_name,
            description="Knowledge Gateway",
            tags={**dict(switches.tags), "product": PRODUCT, "stage": switches.stage or DEFAULT_STAGE},
            synthesizer=synthesizer,
        )
        self.switches = switches
        disposable = switches.disposable
        self._roles = {
            function.name: FunctionRole(self, camel(function.name) + "Access", function=function, switches=switches)
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
        functions = self._functions()
        api = HttpApi(self, "HttpApi", functions=functions, switches=switches)
        for function in FUNCTIONS:
            if function.every_min:
                run_by_the_clock(self, function, target=functions[function.name])
        self.alarms = AlarmTarget(self, "Alarms", email=switches.alarm_email, topic_arn=switches.alarm_topic_arn)
        if not switches.unwatched:
            self._watch(api, functions)
        self._outputs(api, functions)
        if switches.cloudfront:
            self._front(api)
        if switches.backups:
            backups = Backups(self, "Backups", tables=self._data.tables, switches=switches)
            CfnOutput(self, "BackupVaultName", value=backups.vault_name)

    def _watch(self, api: HttpApi, functions: dict[str, lambda_.Function]) -> None:
        sources = Sources(
            log_groups={name: access.log for name, access in self._roles.items()} | {ACCESS: api.access_log},
            functions={name: function.function_name for name, function in functions.items()},
            tables={table.name: self._data.tables[table].table_name for table in TABLES},
            api_id=api.id,
        )
        count_lines(self, sources)
        self.alarms.tell_of(*make_alarms(self, sources))
        make_dashboard(self, sources)

    def _functions(self) -> dict[str, lambda_.Function]:
        bundles = build_bundles([function.name for function in FUNCTIONS], self.switches.target)
        place = place_for(self, self.switches)
        made: dict[str, lambda_.Function] = {}
        for function in FUNCTIONS:
            access = self._roles[function.name]
            policy = permit(access.role, function, self._data, front=self.switches.cloudfront)
            made[function.name] = lambda_function(
                self,
                camel(function.name) + "Function",
                function=function,
                bundle=bundles[function.name],
                switches=self.switches,
                log=access.log,
                role=access.role.without_policy_updates(),
                environment=environment_of(function, self._data, self.switches),
            )
            if place is not None and function.dials_out:
                place.put(made[function.name])
            if policy is not None:  # the first request must not find a role without its policy
                made[function.name].node.add_dependency(policy)
        return made

    def _addresses(self, url: str) -> None:
        """Where callers find the API and what else it serves. The pinned script and the integrity belong together."""
        script = present_script()
        CfnOutput(self, "ApiUrl", value=url)
        CfnOutput(self, "McpUrl", value=url + "/mcp")
        CfnOutput(self, "ConsoleUrl", value=url + CONSOLE)
        CfnOutput(self, "WidgetScriptUrl", value=url + WIDGET + SCRIPT)
        CfnOutput(self, "WidgetPinnedScriptUrl", value=url + WIDGET + pinned_name(script))
        CfnOutput(self, "WidgetScriptIntegrity", value=integrity_of(script))

    def _front(self, api: HttpApi) -> None:
        front = Front(self, "Front", origin_host=api.host, switches=self.switches)
        self._addresses(f"https://{self.switches.cloudfront_domain or front.domain_name}")
        CfnOutput(self, "FrontDomainName", value=front.domain_name)
        CfnOutput(self, "FrontDistributionId", value=front.distribution_id)
        CfnOutput(self, "FrontSecretArn", value=front.secret_arn)

    def _outputs(self, api: HttpApi, functions: dict[str, lambda_.Function]) -> None:
        if not self.switches.cloudfront:
            self._addresses(api.url)
        if api.domain is not None:
            CfnOutput(self, "DomainTarget", value=api.domain.target)
        CfnOutput(self, "RootSecretArn", value=self._data.root_secret.arn)
        for pool in POOL_VARIABLES:
            CfnOutput(self, f"Pool{camel(pool)}SecretArn", value=self._data.pool_secrets[pool])
        for table in TABLES:
            CfnOutput(self, "Table" + camel(table.name) + "Name", value=self._data.tables[table].table_name)
        for exposure, name in NAMES.items():
            CfnOutput(self, f"Key{name}Arn", value=self._data.keys[exposure].key_arn)
        for name, function in functions.items():
            CfnOutput(self, f"Function{camel(name)}Name", value=function.function_name)
