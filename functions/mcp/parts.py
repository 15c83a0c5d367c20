"""What the routes of this function work with."""

from __future__ import annotations

from dataclasses import dataclass

from aws_lambda_powertools import Logger

from shared.adapters.event_loop import ProcessLoop
from shared.ports.clock import Clock
from shared.ports.front_door import FrontDoor
from shared.services.admit import Admit
from shared.services.admit_assistant import AdmitAssistant
from shared.web.mcp.tool import Tools


@dataclass(frozen=True, slots=True, kw_only=True)
class McpParts:
    """`origins` are the origins of web pages that may call: compared exactly, as a browser sends them.

    `admit` and `admit_assistant` verify the callers of everything but a tool, which verifies its own.
    """

    tools: Tools
    admit: Admit
    admit_assistant: AdmitAssistant
    origins: frozenset[str]
    clock: Clock
    loop: ProcessLoop
    logger: Logger
    front: FrontDoor | None = None
