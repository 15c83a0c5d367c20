"""Rotating a signing secret: for a while both the new and the replaced one sign every request."""

from __future__ import annotations

from shared.domain.registrations import Provider, SealedSecret
from shared.errors import Conflict

DEFAULT_WINDOW_HOURS = 24
MAX_WINDOW_HOURS = 168
_HOUR_S = 3600


def refuse_while_pending(provider: Provider, *, now: float, replace_pending: bool) -> None:
    """Raises `Conflict` (`rotation_pending`) inside an open window: the oldest secret would stop working unseen."""
    if provider.source.previous_secret_at(now) is not None and not replace_pending:
        raise Conflict(
            "The previous rotation's window is still open. Wait for its end, or send `replacePending: true`.",
            code="rotation_pending",
        )


def rotated(
    provider: Provider, *, new: SealedSecret, replaced: SealedSecret | None, window_hours: int, now: float
) -> Provider:
    """The registration after a rotation. `replaced` is the secret that was current, sealed as the previous one."""
    return provider.with_source(
        signing=new,
        signing_previous=replaced,
        signing_previous_until=now + window_hours * _HOUR_S if replaced is not None else 0.0,
    )
