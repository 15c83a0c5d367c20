"""When another side says to come back (`Retry-After`, RFC 9110)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

LONGEST_WAIT_S = 3600.0
_SECONDS = re.compile(r"[0-9]{1,32}", re.ASCII)
_HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT", re.ASCII)


def retry_at(header: str | None, *, now: float) -> float | None:
    """Unix seconds, never in the past and at most an hour ahead; None without a usable value.

    Plain seconds or an HTTP date. Signs, fractions, lists and dates that have passed are no usable value.
    """
    text = (header or "").strip(" \t")
    if _SECONDS.fullmatch(text):
        return now + min(float(text), LONGEST_WAIT_S)
    until = unix_seconds(text)
    return None if until is None or until <= now else min(until, now + LONGEST_WAIT_S)


def unix_seconds(http_date: str) -> float | None:
    """What an HTTP date says; None for anything that is none."""
    if _HTTP_DATE.fullmatch(http_date) is None:
        return None
    try:
        return datetime.strptime(http_date, "%a, %d %b %Y %H:%M:%S GMT").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
