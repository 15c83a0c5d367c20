"""`kgw cards import`: sends a file of cards in slices. Rows that are there already change nothing, so it can be
interrupted and run again.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from infra.cli.access import client_as
from infra.cli.http import NO_PROBLEM, TRANSFER_S, Client, Declined, Unreachable
from infra.cli.progress import Progress
from infra.cli.row_cards import cards_of
from infra.cli.row_slices import MOST_BYTES, Slice, count_rows, slices
from infra.cli.terminal import note, say, say_json

_WAITED_FOR = frozenset({(429, "rate_limited"), (409, "import_running"), (409, "import_ended"), (409, "busy")})
_UNAVAILABLE = 503
# Answers without a problem, from what stands before the gateway's own code. A row may be sent twice.
_BROKEN = frozenset({500, 502, 503, 504})
_MOST_FAILURES = 5
# An import that was killed holds its lease for half a minute, of which two seconds at a time are waited for.
_MOST_WAITS = 30
_DEFAULT_WAIT_S = 2.0
_LONGEST_WAIT_S = 120.0  # whatever an answer asks for
_SHOWN_REFUSALS = 20
_TOO_LARGE: dict[str, Any] = {
    "status": "refused",
    "code": "body_too_large",
    "errors": [{"pointer": "", "detail": "The row is larger than a request may be."}],
}
_GOES_ON = "The same command goes on from here."
_ORDER = ("created", "updated", "unchanged", "refused")


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    file: Path
    collection: str
    as_json: bool
    profile: str | None = None


@dataclass
class Tally:
    """What became of the rows so far. `refusals` are the reports of refused rows, with their number in the file."""

    total: int
    counts: Counter[str] = field(default_factory=Counter)
    refusals: list[dict[str, Any]] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)

    @property
    def done(self) -> int:
        return sum(self.counts.values())

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def take(self, row: dict[str, Any], number: int) -> None:
        self.counts[row["status"]] += 1
        if row["status"] == "refused":
            self.refusals.append({**row, "row": number})

    def refuses(self, card: str | None, number: int) -> bool:
        """Whether an earlier row of the file is about this card: they would undo each other whenever they are sent."""
        if card is None or (earlier := self.seen.setdefault(card, number)) == number:
            return False
        fault = {"pointer": "", "detail": f"Row {earlier} is about the same card."}
        self.take({"status": "refused", "code": None, "errors": [fault]}, number)
        return True

    def line(self) -> str:
        told = ", ".join(f"{self.counts[name]:,} {name}" for name in _ORDER if self.counts[name] or name != "refused")
        return f"{self.done:,} of {self.total:,} rows: {told}"


def import_cards(wanted: Import) -> int:
    """Returns the exit status: 0, or 1 when rows were refused. Raises `NoAccess`, `Unsliceable`, `Declined`,
    `Unreachable`; 130 is for an interruption.
    """
    client = client_as("admin", profile=wanted.profile)
    tally = Tally(count_rows(wanted.file))
    progress = Progress()
    try:
        for piece in slices(wanted.file):
            _send(client, wanted.collection, piece, tally, progress)
            progress.show(tally.line())
    except KeyboardInterrupt:
        _break_off("Interrupted", wanted, tally, progress)
        return 130
    except (Declined, Unreachable):
        _break_off("Broken off", wanted, tally, progress)
        raise
    progress.end()
    _report(wanted, tally)
    return 1 if tally.refusals else 0


def _break_off(how: str, wanted: Import, tally: Tally, progress: Progress) -> None:
    progress.end()
    if wanted.as_json:
        _report(wanted, tally)
    else:
        _show_refusals(tally)
    note(f"{how}. {tally.line()}. {_GOES_ON}")


def _send(client: Client, collection: str, piece: Slice, tally: Tally, progress: Progress) -> None:
    """Sends a slice, and again those of its rows for which the gateway had no time."""
    if len(piece.rows) == 1 and len(piece.body) > MOST_BYTES:
        tally.take(_TOO_LARGE, piece.first)
        return
    cards = cards_of(piece, collection)
    places = [place for place, card in enumerate(cards) if not tally.refuses(card, piece.first + place)]
    path = f"/api/v1/collections/{quote(collection, safe='')}/cards/import"
    while places:
        body, media_type = piece.of(places).body, piece.media_type

        def attempt(body: bytes = body, media_type: str = media_type) -> list[dict[str, Any]]:
            received = client.send("POST", path, body, within_s=TRANSFER_S, Content_Type=media_type)
            with client.understood():
                return _rows(received.data)

        rows = _patiently(attempt, progress)
        with client.understood():
            reported = list(zip(places, rows, strict=True))
        for place, row in reported:
            if row["status"] != "skipped":
                tally.take(row, piece.first + place)
        places = [place for place, row in reported if row["status"] == "skipped"]


def _rows(data: bytes) -> list[dict[str, Any]]:
    """The reports of rows in an answer. Raises ValueError, LookupError or TypeError for one that has none."""
    rows: list[dict[str, Any]] = [
        {
            "status": str(row["status"]),
            "code": row["code"],
            "errors": [{name: str(fault[name]) for name in ("pointer", "detail")} for fault in row["errors"]],
        }
        for row in json.loads(data)["rows"]
    ]
    return rows


def _patiently(attempt: Callable[[], list[dict[str, Any]]], progress: Progress) -> list[dict[str, Any]]:
    """Waits as long as the gateway says, but not for hours, some times. Raises `Declined`, `Unreachable`."""
    waits, failures = 0, 0
    while True:
        try:
            return attempt()
        except Declined as declined:
            failures += _is_broken(declined)
            waits += 1
            if waits > _MOST_WAITS or failures > _MOST_FAILURES or not _is_worth_waiting(declined):
                raise
            wait_s = min(declined.retry_after_s or _DEFAULT_WAIT_S, _LONGEST_WAIT_S)
            progress.tell(f"waiting {wait_s:.0f} s: {declined.status} {declined.code}")
            time.sleep(wait_s)


def _is_worth_waiting(declined: Declined) -> bool:
    waited_for = declined.status == _UNAVAILABLE or (declined.status, declined.code) in _WAITED_FOR
    return waited_for or _is_broken(declined)


def _is_broken(declined: Declined) -> bool:
    return declined.status in _BROKEN and declined.code == NO_PROBLEM


def _report(wanted: Import, tally: Tally) -> None:
    if wanted.as_json:
        say_json(_summary(wanted, tally), indent=None)
        return
    _show_refusals(tally)
    say(f"{tally.line()} ({tally.seconds:.1f} s)")


def _show_refusals(tally: Tally) -> None:
    for row in tally.refusals[:_SHOWN_REFUSALS]:
        why = "; ".join(f"{fault['pointer']} {fault['detail']}".strip() for fault in row["errors"])
        note(f"row {row['row']} refused: {why}")
    if len(tally.refusals) > _SHOWN_REFUSALS:
        note(f"and {len(tally.refusals) - _SHOWN_REFUSALS} more; --json lists them all")


def _summary(wanted: Import, tally: Tally) -> dict[str, Any]:
    return {
        "collection": wanted.collection,
        "rows": tally.total,
        **{name: tally.counts[name] for name in _ORDER},
        "seconds": round(tally.seconds, 3),
        "refusals": [{"row": row["row"], "code": row["code"], "errors": row["errors"]} for row in tally.refusals],
    }
