"""Builds the adapters of the probe function, once a process."""

from __future__ import annotations

from collections.abc import Mapping

from functions.probe.parts import Parts
from shared.adapters import aws
from shared.adapters.card_sweeper import DynamoCardSweeper
from shared.adapters.clock import SystemClock
from shared.settings.cards import CardTable


def wired(environment: Mapping[str, str]) -> Parts:
    """Raises `ValidationError` naming what the environment lacks."""
    settings = CardTable.from_environment(environment)
    return Parts(sweeper=DynamoCardSweeper(aws.dynamodb(), table=settings.cards), clock=SystemClock())
