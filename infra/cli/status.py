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
from infra.cli.ending import NOT_WELL
from infra.cli.http import Client, Declined

HEALTH: Final = "/api/v1/knowledge/health"
_UNKNOWN: Final = 1
_TOO_OFTEN: Final = 429
_CLEAR: Final = "\x1b[H\x1b[2J"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """`watch_s`: asked again after so many seconds, until it is interrupted."""

    provider: str | None
    as_json: bool
    watch_s: float | None
    profile: str | None = None


def show_status(wanted: Status) -> int:
    """0 when all is well, `NOT_WELL` when it is not. Raises `NoAccess`, `Declined`, `Unreachable`."""
    client = client_as("admin", "agent", profile=wanted.profile)
    if wanted.watch_s is None:
        return _once(client, wanted)
    code = _UNKNOWN
    try:
        while True:
            wait_s = wanted.watch_s
            try:
                code = _once(client, wanted)
            except Declined as declined:
                wait_s = _wait_s(declined, wanted.watch_s)
            time.sleep(wait_s)
    except KeyboardInterrupt:
        return code


def _wait_s(declined: Declined, watch_s: float) -> float:
    """As long as the gateway says, where it was asked too often. Raises what else it said."""
    if declined.status != _TOO_OFTEN:
        raise declined
    wait_s = max(watch_s, declined.retry_after_s or 0.0)
    print(f"kgw: {declined} Asked again in {wait_s:.0f} s.", file=sys.stderr, flush=True)
    return wait_s


def _once(client: Client, wanted: Status) -> int:
    told, is_terminal = _told(client, wanted.provider), sys.stdout.isatty()
    style = status_text.Style(is_coloured=is_terminal and not os.environ.get("NO_COLOR"))
    with client.understood():
        text = _text(told, wanted, style)
        code = 0 if told["status"] == "healthy" else NOT_WELL
    if wanted.watch_s is not None and is_terminal:
        print(_CLEAR, end="")
    print(text, flush=True)
    return code


def _told(client: Client, provider: str | None) -> dict[str, Any]:
    return client.call("GET", HEALTH if provider is None else f"{HEALTH}/{quote(provider, safe='')}").body


def _text(told: dict[str, Any], wanted: Status, style: status_text.Style) -> str:
    for_people = status_text.one_text if wanted.provider is not None else status_text.all_text
    text = for_people(told, now=datetime.now(UTC), style=style)
    if wanted.as_json:
        return json.dumps(told, ensure_ascii=False, indent=None if wanted.watch_s is not None else 2)
    return text
