"""Points in time on the wire: RFC 3339, UTC, milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(seconds: float) -> str:
    """Unix seconds as `2026-01-31T09:30:00.000Z`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment_or_none(seconds: float | None) -> str | None:
    return None if seconds is None else moment(seconds)
