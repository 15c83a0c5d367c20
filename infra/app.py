"""The CDK app: `cdk.json` runs this."""

from __future__ import annotations

from infra.node import use_bundled_node

use_bundled_node()

from aws_cdk import App  # noqa: E402  # importing it starts Node

from infra.gateway_app import add_stack, refusals_in_a_sentence  # noqa: E402
from infra.second_opinion import ask_second_opinion  # noqa: E402


def main() -> None:
    app = App()
    with refusals_in_a_sentence():
        stack = add_stack(app)
    ask_second_opinion(app, stack)
    app.synth()


if __name__ == "__main__":
    main()
