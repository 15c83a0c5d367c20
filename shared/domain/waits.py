"""How long a key rests after a refusal: what the service says, in any of the ways in which services say it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal

from shared.domain.key_pools import LONGEST_REST_S, REST_BY_DEFAULT_S
from shared.domain.retry_times import unix_seconds

_RESETS: Final = ("ratelimit-reset", "x-ratelimit-reset")
_MOST_CHARACTERS: Final = 2_048  # of a header; longer ones say nothing
_UNIX_SECONDS_ABOVE: Final = 1e9  # a smaller number is a wait: this one would be over thirty years
_UNIX_MILLISECONDS_ABOVE: Final = 1e12
_WHOLE = re.compile(r"[0-9]+", re.ASCII)
# The closing quote is optional: a string that never ends is then read once, not anew from each quote inside it.
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"?')


def rest_until(
    headers: Mapping[str, str], *, reason: Literal["quota", "rate"], now: float, said_s: float | None = None
) -> float:
    """Unix seconds, from `now` to 31 days ahead: the later of `Retry-After` and the reset headers, else `said_s` (a
    wait that the service states in its body alone), else 24 h (quota) or 60 s (rate).

    `headers` have lower-case names. A time that has passed means now; a value in no known form counts as absent.
    """
    stated = max(_waits(headers, now=now), default=said_s)
    if stated is None or math.isnan(stated) or stated < 0:
        stated = REST_BY_DEFAULT_S[reason]
    return now + min(stated, LONGEST_REST_S)


def _waits(headers: Mapping[str, str], *, now: float) -> Iterator[float]:
    """Every usable statement, in seconds from now."""
    server_now = unix_seconds(_text(headers, "date")) or now
    if (wait_s := _delay_or_date(_text(headers, "retry-after"), server_now=server_now)) is not None:
        yield wait_s
    for value in (value for name in _RESETS for value in _members(_text(headers, name))):
        if (wait_s := _reset(value, now=now, server_now=server_now)) is not None:
            yield wait_s
    yield from _structured(_text(headers, "ratelimit"))


def _text(headers: Mapping[str, str], name: str) -> str:
    text = headers.get(name, "")
    return text.strip(" \t") if len(text) <= _MOST_CHARACTERS else ""


def _members(text: str) -> list[str]:
    """Of a header that may have come several times. A date has a comma of its own."""
    return [text] if unix_seconds(text) is not None else [value.strip(" \t") for value in text.split(",")]


def _delay_or_date(text: str, *, server_now: float) -> float | None:
    """Whole seconds, or an HTTP date by the clock of whoever wrote it."""
    if (seconds := _whole(text)) is not None:
        return seconds
    until = unix_seconds(text)
    return None if until is None else max(0.0, until - server_now)


def _reset(text: str, *, now: float, server_now: float) -> float | None:
    """A wait or a time, told apart by their size, or an HTTP date."""
    number = _whole(text)
    if number is None or number <= _UNIX_SECONDS_ABOVE:
        return _delay_or_date(text, server_now=server_now)
    until = number / 1_000 if number > _UNIX_MILLISECONDS_ABOVE else number
    return max(0.0, until - now)


def _structured(field: str) -> list[float]:
    """The waits in a `RateLimit` field, in its present form (`"burst";r=0;t=30`) or its former one
    (`limit=100, remaining=0, reset=5`). What still has units left is not what refused, so its wait says nothing; where
    some items have none left, those count alone.
    """
    items = [_parameters(member) for member in _QUOTED.sub('""', field).split(",")]
    former = {name: value for item in items for name, value in item.items() if name in ("remaining", "reset")}
    stated = [(item.get("r"), item.get("t")) for item in items] + [(former.get("remaining"), former.get("reset"))]
    waits = [(left, wait_s) for left, wait_s in stated if wait_s is not None]
    return [w for left, w in waits if left == 0] or [w for left, w in waits if left is None]


def _parameters(member: str) -> dict[str, float]:
    pairs = (part.strip(" \t").partition("=") for part in member.split(";"))
    return {name: number for name, _, value in pairs if (number := _whole(value)) is not None}


def _whole(text: str) -> float | None:
    return float(text) if _WHOLE.fullmatch(text) else None
