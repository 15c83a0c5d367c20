"""The shipped app, synthesised for an account that has no bootstrap roles: the caller's own credentials deploy it."""

from __future__ import annotations

from infra.node import use_bundled_node

use_bundled_node()

from aws_cdk import App, CliCredentialsStackSynthesizer  # noqa: E402  # importing it starts Node

from infra.gateway_app import add_stack  # noqa: E402


def main() -> None:
    app = App()
    add_stack(app, synthesizer=CliCredentialsStackSynthesizer())
    app.synth()


if __name__ == "__main__":
    main()
