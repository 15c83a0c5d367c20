"""Reads the switches and makes the stack."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import App, IStackSynthesizer

from infra.stack import KnowledgeGatewayStack
from infra.switches import Switches


def add_stack(app: App, *, synthesizer: IStackSynthesizer | None = None) -> KnowledgeGatewayStack:
    """By the switches in the CDK's context. Raises ValueError, before anything is made, for one that is wrong."""
    context: Mapping[str, object] = app.node.get_all_context()
    return KnowledgeGatewayStack(app, switches=Switches.read(context), synthesizer=synthesizer)
