"""What the probe function works with."""

from __future__ import annotations

from dataclasses import dataclass

from aws_lambda_powertools import Logger

from shared.adapters.event_loop import ProcessLoop
from shared.services.clear_collections import ClearCollections
from shared.services.probe_providers import ProbeProviders


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    probe_providers: ProbeProviders
    clear_collections: ClearCollections
    loop: ProcessLoop
    logger: Logger
