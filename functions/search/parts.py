"""What the routes of this function work with."""

from __future__ import annotations

from dataclasses import dataclass

from aws_lambda_powertools import Logger

from shared.adapters.event_loop import ProcessLoop
from shared.ports.clock import Clock
from shared.ports.front_door import FrontDoor
from shared.services.admit_assistant import AdmitAssistant
from shared.services.search import Search
from shared.services.search_for_assistant import SearchForAssistant


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParts:
    search: Search
    search_for_assistant: SearchForAssistant
    admit_assistant: AdmitAssistant
    clock: Clock
    loop: ProcessLoop
    logger: Logger
    front: FrontDoor | None = None
