"""The agent on whose behalf a tool asks, as it names itself."""

from __future__ import annotations

import re
from typing import Final

from shared.errors import Invalid, Violation
from shared.web.events import Event

AGENT_ID_HEADER: Final = "x-helpthread-agent-id"
_AGENT_ID = re.compile(r"[!-~]{1,128}", re.ASCII)


def agent_id_of(event: Event) -> str | None:
    """Attribution alone: it opens nothing. None where the header is missing; raises `Invalid` for another alphabet."""
    value: str | None = event["headers"].get(AGENT_ID_HEADER)
    if value is not None and _AGENT_ID.fullmatch(value) is None:
        detail = "X-Helpthread-Agent-Id is 1 to 128 printable ASCII characters without spaces"
        raise Invalid(detail + ".", violations=(Violation(pointer="", detail=detail + "."),))
    return value
