"""The probe function, run by the clock: it finishes what was begun elsewhere. Nobody can call it over HTTP."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from functions.probe.run import Probe, budget_s
from functions.probe.wiring import wired
from shared.adapters.event_loop import ProcessLoop
from shared.observability import logger_for

_probe = Probe(wired(os.environ), loop=ProcessLoop(), logger=logger_for("probe"))


def handler(_event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """What was done. The event says nothing."""
    return _probe.run(budget_s=budget_s(context))
