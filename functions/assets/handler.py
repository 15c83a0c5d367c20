"""The assets function: what is the same for everybody, and the answer to every unknown path. It reads no data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from shared.adapters import long_lived

with long_lived.set_up():
    from functions.assets.api import assets_api
    from functions.assets.wiring import published
    from shared.observability import logger_for

    _api = assets_api(published(), logger=logger_for("assets"), release=os.environ.get("KG_RELEASE", ""))


def handler(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    return _api.handle(event, context)
