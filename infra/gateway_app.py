"""Reads the switches and makes the stack."""

from __future__ import annotations

from aws_cdk import App, IStackSynthesizer

from infra.bundles.target import Target
from infra.stack import KnowledgeGatewayStack
from infra.stack_name import STACK_NAME


def add_stack(app: App, *, synthesizer: IStackSynthesizer | None = None) -> KnowledgeGatewayStack:
    """Switches, all in the CDK's context: `architecture` (arm64 or x86_64), `runtime` (python3.13) and `disposable`
    (true lets the data go with the stack).
    """
    defaults = Target()
    target = Target(
        runtime=_switch(app, "runtime", defaults.runtime),
        architecture=_switch(app, "architecture", defaults.architecture),
    )
    disposable = _switch(app, "disposable", "false") == "true"
    return KnowledgeGatewayStack(app, STACK_NAME, target=target, disposable=disposable, synthesizer=synthesizer)


def _switch(app: App, name: str, default: str) -> str:
    value = app.node.try_get_context(name)
    return default if value is None else str(value).lower()
