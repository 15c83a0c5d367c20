"""What the routes of this function work with."""

from __future__ import annotations

from dataclasses import dataclass

from aws_lambda_powertools import Logger

from functions.live.alexandria_parts import AlexandriaParts
from shared.adapters.event_loop import ProcessLoop
from shared.ports.clock import Clock
from shared.ports.front_door import FrontDoor
from shared.services.acquire import Acquire
from shared.services.admit import Admit


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveParts:
    acquire: Acquire
    alexandria: AlexandriaParts
    admit: Admit
    clock: Clock
    loop: ProcessLoop
    logger: Logger
    front: FrontDoor | None = None
