"""Reads the switches and makes the stack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from aws_cdk import App, IStackSynthesizer

from infra.stack import KnowledgeGatewayStack
from infra.switch_words import RefusedSwitch
from infra.switches import Switches


def add_stack(app: App, *, synthesizer: IStackSynthesizer | None = None) -> KnowledgeGatewayStack:
    """By the switches in the CDK's context. Raises `RefusedSwitch`, before anything is made."""
    context: Mapping[str, object] = app.node.get_all_context()
    return KnowledgeGatewayStack(app, switches=Switches.read(context), synthesizer=synthesizer)


@contextmanager
def refusals_in_a_sentence() -> Iterator[None]:
    """A switch that is refused ends the process with status 1 and what is wrong with it, and no traceback."""
    try:
        yield
    except RefusedSwitch as refused:
        raise SystemExit(str(refused)) from None
