"""The assets function: what is the same for everybody, and the answer to every unknown path. It reads no data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from functions.assets.api import assets_api
from functions.assets.wiring import logger, published

api = assets_api(published(), logger=logger)


def handler(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    return api.handle(event, context)
