"""The shipped app, synthesised for an account that has no bootstrap roles: the caller's own credentials deploy it.

    python -m infra.rehearsal.app '{"directory of an assembly": {"switch": "value"}, ...}'

Several at once, as starting Node takes longer than synthesising. Beside the switches those of `cdk.json` apply.
"""

from __future__ import annotations

from infra.node import use_bundled_node

use_bundled_node()

import json  # noqa: E402
import sys  # noqa: E402

from aws_cdk import App, CliCredentialsStackSynthesizer  # noqa: E402  # importing it starts Node

from infra.bundles.target import ROOT  # noqa: E402
from infra.gateway_app import add_stack, refusals_in_a_sentence  # noqa: E402


def main(assemblies: dict[str, dict[str, str]]) -> None:
    shipped = json.loads((ROOT / "cdk.json").read_text())["context"]
    for directory, switches in assemblies.items():
        app = App(outdir=directory, context={**shipped, **switches})
        with refusals_in_a_sentence():
            add_stack(app, synthesizer=CliCredentialsStackSynthesizer())
        app.synth()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
