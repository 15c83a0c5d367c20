"""Lambda entry point: searches by agents and assistants."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from shared.adapters import long_lived

with long_lived.set_up():
    from functions.search.routes import api_for
    from functions.search.wiring import wired

    _api = api_for(wired(os.environ))


def handler(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    return _api.handle(event, context)
