"""`kgw status`: how the providers of a gateway are, at a glance; of one, what has happened to it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from infra.cli import status_text
from infra.cli.access import client_as
from infra.cli.editing import path_of
from infra.cli.ending import INTERRUPTED, NOT_WELL
from infra.cli.http import Client, Declined
from infra.cli.terminal import clear_screen, note, say, say_json

HEALTH: Final = "/api/v1/knowledge/health"
_FOR_PEOPLE: Final = {False: status_text.all_text, True: status_text.one_text}
_TOO_OFTEN: Final = 429


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
    code = INTERRUPTED  # until there is an answer
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
    note(f"kgw: {declined} Asked again in {wait_s:.0f} s.")
    return wait_s


def _once(client: Client, wanted: Status) -> int:
    told = client.call("GET", HEALTH if wanted.provider is None else path_of(HEALTH, wanted.provider)).body
    with client.understood():
        text = _FOR_PEOPLE[wanted.provider is not None](told, now=datetime.now(UTC))
        code = 0 if told["status"] == "healthy" else NOT_WELL
    if wanted.as_json:
        say_json(told, indent=None if wanted.watch_s is not None else 2)
        return code
    if wanted.watch_s is not None:
        clear_screen()
    say(*text)
    return code
