"""`python -m infra.rehearsal`: deploys the real stack to the embedded AWS backend, with IAM enforced, and uses it.

Needs no AWS account and no container engine. Everything it starts listens on loopback and ends with it.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import boto3
from botocore.exceptions import ClientError

from infra.cli.demo_live import StandIns
from infra.cli.demo_providers import ProviderFailed
from infra.cli.http import Declined, Unreachable
from infra.cli.pool_secrets import NoStore
from infra.cli.seed import Seeded, SeedFailed
from infra.local.emulator import ACCOUNT, REGION, start_emulator
from infra.local.provision import client_environment
from infra.rehearsal.cards import clear_cards, keep_cards, look_cards_up
from infra.rehearsal.deployment import Deployment
from infra.rehearsal.faces import read_the_faces
from infra.rehearsal.health import probe_and_read_health
from infra.rehearsal.lambda_python import LambdaPython, lambda_python
from infra.rehearsal.live_services import (
    count_operations,
    fetch_one_source,
    register_live,
    run_a_tool,
    search_live,
)
from infra.rehearsal.mcp_clients import fetch_over_mcp, look_up_over_mcp, search_over_mcp
from infra.rehearsal.searches import (
    Callers,
    read_what_is_public,
    register,
    search_as_agent,
    search_as_widget,
    start_providers,
)
from infra.rehearsal.steps import Failed, Steps
from infra.rehearsal.updates import AFTER, BEFORE, release_told, what_is_kept
from infra.rehearsal.widget_role import WidgetRole
from infra.stack_name import STACK_NAME

_ARCHITECTURES = {"x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}


def main() -> int:
    started = time.monotonic()
    steps = Steps()
    try:
        with tempfile.TemporaryDirectory(prefix="kg-rehearsal-") as directory:
            _rehearse(steps, Path(directory))
    except (Failed, Declined, Unreachable, SeedFailed, ProviderFailed, NoStore) as error:
        print(f"\nThe rehearsal failed: {error}", file=sys.stderr)
        return 1
    print(f"\nRehearsed in {time.monotonic() - started:.0f} s. Nothing is left running.")
    return 0


def _rehearse(steps: Steps, directory: Path) -> None:
    with steps.step("Prepare the Python that stands in for the Lambda runtime"):
        python = lambda_python()
        steps.note(f"{python.runtime}, with nothing installed but what the runtime ships")
    with steps.step("Start the embedded AWS backend, IAM enforced"):
        backend = start_emulator(auth=True, functions_python=python.executable)
        steps.note(backend.endpoint_url)
    with backend:
        client = client_environment(backend.endpoint_url)
        os.environ.update(client)  # from here on this process is the operator of that account
        deployment = Deployment(client=client, directory=directory, account=ACCOUNT, region=REGION)
        (directory / "log").mkdir()
        with StandIns(directory) as live:
            shared = _Rehearsal(steps, deployment, python, live.origins)
            outputs = shared.deploy()
            callers = Callers(backend.endpoint_url, urlsplit(outputs["ApiUrl"]).netloc)
            _use(shared, outputs, callers, directory)
        _try_widget_role(steps, outputs, python)
        with steps.step("Destroy the stack"):
            deployment.destroy(AFTER)
            _must_be_gone()


@dataclass(frozen=True, slots=True)
class _Rehearsal:
    steps: Steps
    deployment: Deployment
    python: LambdaPython
    local_origins: Mapping[str, str]

    def deploy(self) -> Mapping[str, str]:
        with self.steps.step("Synthesise the stack, as it is deployed first and as it is then"):
            for difference in self.deployment.synthesise(
                runtime=self.python.runtime,
                architecture=_ARCHITECTURES[platform.machine()],
                releases=(BEFORE, AFTER),
                local_origins=self.local_origins,
            ):
                self.steps.note(f"differs from the shipped template: {difference}")
        with self.steps.step("Bootstrap the account"):
            self.deployment.bootstrap(BEFORE)
        with self.steps.step("Deploy"):
            outputs = self.deployment.deploy(BEFORE)
            self.steps.note(outputs["ApiUrl"])
        return outputs

    def update(self, outputs: Mapping[str, str], callers: Callers) -> None:
        """Deploys once more, with one function changed."""
        before = what_is_kept(outputs)
        if release_told(callers) != BEFORE:
            raise Failed(f"The API says that it is release {release_told(callers)}.")
        with self.steps.step("Change a function and deploy again"):
            after = self.deployment.deploy(AFTER)
            if release_told(callers) != AFTER:
                raise Failed(f"After the update the API says that it is release {release_told(callers)}.")
            self.steps.note(f"the API answers as {AFTER}, no more as {BEFORE}")
            self.steps.note(f"kept: {what_is_kept(after).must_be_as_in(before)}")


def _use(rehearsal: _Rehearsal, outputs: Mapping[str, str], callers: Callers, directory: Path) -> None:
    steps = rehearsal.steps
    answer = boto3.client("secretsmanager").get_secret_value(SecretId=outputs["RootSecretArn"])
    root_token = f"kg_adm_root_{answer['SecretString']}"
    with steps.step("Read what is public"):
        steps.note(read_what_is_public(callers))
        steps.note(read_the_faces(callers, outputs))
    with start_providers(directory) as providers:
        with steps.step("Register two reference providers through the deployed admin API, as root"):
            providers.await_start()
            seeded = register(callers, root_token=root_token, providers=providers)
        with steps.step("Search as an agent"):
            steps.note(search_as_agent(callers, seeded))
        with steps.step("Search as a website visitor"):
            steps.note(search_as_widget(callers, seeded))
        with steps.step("Search as MCP clients, one of each era"):
            steps.note(search_over_mcp(callers, seeded))
        _use_live_services(steps, callers, seeded, root_token=root_token)
        with steps.step("Have the probe look at every provider, and read the health"):
            steps.note(probe_and_read_health(callers, seeded, outputs))
        rehearsal.update(outputs, callers)
        with steps.step("Use it on, with the tokens from before the update"):
            steps.note(search_as_widget(callers, seeded))
            steps.note(search_live(callers, seeded))
    with steps.step("Keep a glossary"):
        steps.note(keep_cards(callers, seeded, root_token=root_token))
        steps.note(look_cards_up(callers, seeded))
        steps.note(look_up_over_mcp(callers, seeded))
        steps.note(clear_cards(callers, seeded, outputs, root_token=root_token))


def _use_live_services(steps: Steps, callers: Callers, seeded: Seeded, *, root_token: str) -> None:
    with steps.step("Fill the deployed secrets and register the live services, stand-ins of which run here"):
        steps.note(register_live(callers, seeded, root_token=root_token))
    with steps.step("Ask the live services as an agent"):
        steps.note(search_live(callers, seeded))
        steps.note(fetch_one_source(callers, seeded))
        steps.note(fetch_over_mcp(callers, seeded))
        steps.note(run_a_tool(callers, seeded))
        steps.note(count_operations(callers, root_token=root_token))


def _try_widget_role(steps: Steps, outputs: Mapping[str, str], python: LambdaPython) -> None:
    role = WidgetRole(outputs)
    with steps.step("Make every trial call as the operator"):
        role.try_as_operator()
        steps.note(f"{len(role.allowed) + len(role.forbidden)} calls, all answered")
    with steps.step("Make the same calls with the widget function's own credentials"):
        version = role.try_as_widget()
        if version != python.version:
            raise Failed(f"The deployed functions ran on Python {version}, not on {python.version}.")
        steps.note(f"they ran on Python {version}")
        steps.note(f"{len(role.allowed)} that it needs: answered")
        for about in dict.fromkeys(call.about for call in role.forbidden):
            names = [call.operation for call in role.forbidden if call.about == about]
            steps.note(f"refused on {about}: {', '.join(names)}")


def _must_be_gone() -> None:
    stacks = boto3.client("cloudformation")
    try:
        found = stacks.describe_stacks(StackName=STACK_NAME)["Stacks"]
    except ClientError:
        return
    if any(stack["StackStatus"] != "DELETE_COMPLETE" for stack in found):
        raise Failed(f"The stack is still there: {found[0]['StackStatus']}")


if __name__ == "__main__":
    sys.exit(main())
