"""The admin function: providers, credentials and the audit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from shared.adapters import long_lived

with long_lived.set_up():
    from functions.admin.api import admin_api
    from functions.admin.wiring import wired
    from shared.adapters.event_loop import ProcessLoop
    from shared.observability import logger_for

    _api = admin_api(wired(os.environ), loop=ProcessLoop(), logger=logger_for("admin"))


def handler(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    return _api.handle(event, context)
