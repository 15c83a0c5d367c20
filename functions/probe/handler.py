"""The probe function, run by the clock: it looks at the providers, and finishes what was begun elsewhere. Nobody can
call it over HTTP.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from shared.adapters import long_lived

with long_lived.set_up():
    from functions.probe.run import Probe
    from functions.probe.wiring import wired

    _probe = Probe(wired(os.environ))


def handler(_event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """What was done. The event says nothing."""
    return _probe.run(context)
