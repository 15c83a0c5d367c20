"""How long a key rests after a refusal: what the service says, in any of the ways in which services say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal


def rest_until(
    headers: Mapping[str, str], *, reason: Literal["quota", "rate"], now: float, said_s: float | None = None
) -> float:
    """Unix seconds, from `now` to 31 days ahead: the later of `Retry-After` and the reset headers, else `said_s` (a
    wait that the service states in its body alone), else 24 h (quota) or 60 s (rate).
    """
    raise NotImplementedError
