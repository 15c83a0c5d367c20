"""The four verbs of Alexandria."""

from __future__ import annotations

from dataclasses import dataclass

from shared.services.alexandria_execute import ExecuteTool
from shared.services.alexandria_inspect import InspectTool
from shared.services.alexandria_receipt import ReadReceipt
from shared.services.alexandria_search import SearchTools


@dataclass(frozen=True, slots=True, kw_only=True)
class AlexandriaParts:
    search: SearchTools
    inspect: InspectTool
    execute: ExecuteTool
    receipt: ReadReceipt
