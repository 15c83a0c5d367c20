"""The admin function: providers, credentials and the audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from functions.admin.api import admin_api
from functions.admin.wiring import logger, loop, parts

api = admin_api(parts, loop=loop, logger=logger)


def handler(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    return api.handle(event, context)
