"""The service that lists, prices and executes the tools of Alexandria."""

from __future__ import annotations

from typing import Protocol

from shared.domain.alexandria import Call, Execution, Found, Tool, ToolName
from shared.domain.registrations import Source
from shared.ports.meter import Meter


class Alexandria(Protocol):
    """Sends through the meter alone; never reads secrets, opens sockets, retries, sleeps or logs. Each method is one
    operation of the meter.
    """

    async def search(self, source: Source, query: str, *, limit: int, meter: Meter) -> Found:
        """Tools whose descriptions fit, at most `limit`. Costs no credits. Raises the `ExchangeError` family."""
        ...

    async def inspect(self, source: Source, tool: ToolName, *, meter: Meter) -> Tool:
        """The tool with its price and options. Costs no credits: an answer that says otherwise is `invalid_response`.
        Raises the `ExchangeError` family; `Refused` (`not_found`) for a tool that the service does not list.
        """
        ...

    async def execute(self, source: Source, call: Call, *, meter: Meter) -> Execution:
        """Sends the call once: another key is tried only after a refusal that says that nothing was executed, and
        nothing is sent again over a connection that broke. What goes wrong is part of what it returns: it raises no
        `ExchangeError`.
        """
        ...
