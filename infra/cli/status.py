"""`kgw status`: how the providers of a gateway are, at a glance; of one, what has happened to it."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from infra.cli import status_text
from infra.cli.access import client_as
from infra.cli.http import Client

HEALTH: Final = "/api/v1/knowledge/health"
NOT_WELL: Final = 3  # 1 is left to "cannot be asked"
_CLEAR: Final = "\x1b[H\x1b[2J"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """`watch_s`: asked again after so many seconds, until it is interrupted."""

    provider: str | None
    as_json: bool
    watch_s: float | None


def show_status(wanted: Status) -> int:
    """0 when all is well, `NOT_WELL` when it is not. Raises `NoAccess`, `Declined`, `Unreachable`."""
    client = client_as("admin")
    if wanted.watch_s is None:
        return _once(client, wanted)
    code = 0
    try:
        while True:
            code = _once(client, wanted)
            time.sleep(wanted.watch_s)
    except KeyboardInterrupt:
        return code


def _once(client: Client, wanted: Status) -> int:
    told = _told(client, wanted.provider)
    _show(told, wanted)
    return 0 if told["status"] == "healthy" else NOT_WELL


def _told(client: Client, provider: str | None) -> dict[str, Any]:
    return client.call("GET", HEALTH if provider is None else f"{HEALTH}/{quote(provider, safe='')}").body


def _show(told: dict[str, Any], wanted: Status) -> None:
    is_terminal = sys.stdout.isatty()
    if wanted.watch_s is not None and is_terminal:
        print(_CLEAR, end="")
    if wanted.as_json:
        print(json.dumps(told, ensure_ascii=False, indent=None if wanted.watch_s is not None else 2), flush=True)
        return
    style = status_text.Style(is_coloured=is_terminal and not os.environ.get("NO_COLOR"))
    text = status_text.one_text if wanted.provider is not None else status_text.all_text
    print(text(told, now=datetime.now(UTC), style=style), flush=True)
