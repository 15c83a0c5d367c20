"""Synthesises; bootstraps, deploys and destroys with the CDK's own command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from infra.bundles.target import ROOT
from infra.node import NODE
from infra.rehearsal.differences import adapt
from infra.rehearsal.steps import Failed
from infra.stack_name import STACK_NAME

CDK = ROOT / "infra" / "node_modules" / "aws-cdk" / "bin" / "cdk"
_TIMEOUT_S = 600
_QUIET = {
    "CI": "true",
    "CDK_DISABLE_CLI_TELEMETRY": "true",
    "CDK_DISABLE_VERSION_CHECK": "1",
    "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "true",
    "NO_COLOR": "1",
}
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "KG_LAMBDA_PYTHON", "PYENV_ROOT")


@dataclass(frozen=True, slots=True)
class Deployment:
    """`client` is the AWS_* environment that leads to the backend; `directory` takes the synthesised assemblies."""

    client: Mapping[str, str]
    directory: Path
    account: str
    region: str

    def synthesise(
        self, *, runtime: str, architecture: str, releases: Sequence[str], local_origins: Mapping[str, str]
    ) -> list[str]:
        """One assembly for each release. Returns their differences from the shipped template."""
        same = {
            "runtime": runtime,
            "architecture": architecture,
            "disposable": "true",
            "unwatched": "true",  # the embedded backend knows no alarms that calculate
        }
        assemblies = {str(self._assembly(release)): {**same, "release": release} for release in releases}
        self._run([sys.executable, "-m", "infra.rehearsal.app", json.dumps(assemblies)], about="synthesis")
        differences: list[str] = []
        for release in releases:  # they differ alike
            differences = adapt(self._assembly(release) / f"{STACK_NAME}.template.json", local_origins=local_origins)
        return differences

    def bootstrap(self, release: str) -> None:
        place = f"aws://{self.account}/{self.region}"
        self._cdk("bootstrap", place, "--app", str(self._assembly(release)))

    def deploy(self, release: str) -> dict[str, str]:
        """Returns the stack's outputs."""
        outputs = self.directory / "outputs.json"
        wanted = ["--require-approval", "never", "--outputs-file", str(outputs)]
        self._cdk("deploy", STACK_NAME, "--app", str(self._assembly(release)), *wanted)
        found: dict[str, str] = json.loads(outputs.read_text())[STACK_NAME]
        return found

    def destroy(self, release: str) -> None:
        self._cdk("destroy", STACK_NAME, "--app", str(self._assembly(release)), "--force")

    def _assembly(self, release: str) -> Path:
        return self.directory / release

    def _cdk(self, *arguments: str) -> None:
        command = [str(NODE), str(CDK), *arguments, "--no-notices", "--no-version-reporting"]
        self._run(command, about=f"cdk {arguments[0]}")

    def _run(self, command: list[str], *, about: str) -> None:
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=inherited | _QUIET | dict(self.client),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        if done.returncode != 0:
            raise Failed(f"{about} ended with {done.returncode}. It said:\n{done.stdout[-6000:]}")
