"""What the tools work with: the very services of the REST functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.adapters.event_loop import ProcessLoop
from shared.domain.cards import Card, CustomerCard
from shared.ports.clock import Clock
from shared.services.admit import Admit
from shared.services.admit_assistant import AdmitAssistant
from shared.services.look_up import LookUp
from shared.services.match import Match
from shared.services.search import Search
from shared.services.search_for_assistant import SearchForAssistant

if TYPE_CHECKING:
    from shared.services.acquire import Acquire


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolParts:
    """`acquire` gives what fetches sources, made when it is first needed: most processes never need it."""

    search: Search
    search_for_assistant: SearchForAssistant
    look_up: LookUp[Card]
    look_up_for_customer: LookUp[CustomerCard]
    match: Match[Card]
    match_for_customer: Match[CustomerCard]
    acquire: Callable[[], Acquire]
    admit: Admit
    admit_assistant: AdmitAssistant
    clock: Clock
    loop: ProcessLoop
