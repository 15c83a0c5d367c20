"""Builders at a time far ahead: the embedded backend deletes rows past their end by its own clock, once a minute, and
has to leave the rows of these tests alone.
"""

from __future__ import annotations

from typing import Any

from shared.domain.changes import Change, IdempotencyRecord
from tests.support import builders

NOW = 4_000_000_000.0


def a_change(*, at: float = NOW, **over: Any) -> Change:
    return builders.a_change(at=at, **over)


def an_idempotency_record(*, expires_at: float = NOW + 86_400, **over: Any) -> IdempotencyRecord:
    return builders.an_idempotency_record(expires_at=expires_at, **over)
