"""Synthesises, bootstraps, deploys and destroys with the CDK's own command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
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
    """`client` is the AWS_* environment that leads to the backend; `directory` takes the synthesised assembly."""

    client: Mapping[str, str]
    directory: Path
    account: str
    region: str

    @property
    def assembly(self) -> Path:
        return self.directory / "cdk.out"

    @property
    def template(self) -> Path:
        return self.assembly / f"{STACK_NAME}.template.json"

    def synthesise(self, *, runtime: str, architecture: str, local_origins: Mapping[str, str]) -> list[str]:
        """Returns the differences from the shipped template."""
        context = ["-c", f"runtime={runtime}", "-c", f"architecture={architecture}", "-c", "disposable=true"]
        app = f"{sys.executable} -m infra.rehearsal.app"
        self._cdk("synth", "--quiet", "--app", app, "--output", str(self.assembly), *context)
        return adapt(self.template, local_origins=local_origins)

    def bootstrap(self) -> None:
        self._cdk("bootstrap", f"aws://{self.account}/{self.region}", "--app", str(self.assembly))

    def deploy(self) -> dict[str, str]:
        """Returns the stack's outputs."""
        outputs = self.directory / "outputs.json"
        wanted = ["--require-approval", "never", "--outputs-file", str(outputs)]
        self._cdk("deploy", STACK_NAME, "--app", str(self.assembly), *wanted)
        found: dict[str, str] = json.loads(outputs.read_text())[STACK_NAME]
        return found

    def destroy(self) -> None:
        self._cdk("destroy", STACK_NAME, "--app", str(self.assembly), "--force")

    def _cdk(self, *arguments: str) -> None:
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        done = subprocess.run(
            [str(NODE), str(CDK), *arguments, "--no-notices", "--no-version-reporting"],
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
            raise Failed(f"cdk {arguments[0]} ended with {done.returncode}. It said:\n{done.stdout[-6000:]}")
