"""The headers by which a browser lets a page of another origin ask and read. Never with credentials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

VARY: Final[Mapping[str, str]] = {"Vary": "Origin"}
_MAX_AGE_S = 600
_USUAL_HEADERS: Final = "authorization, content-type, x-request-id"


def readable_by(origin: str) -> dict[str, str]:
    """For an answer or a refusal that the page may read. `origin` is echoed as the browser sent it."""
    return {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Expose-Headers": "X-Request-Id, Retry-After",
        **VARY,
    }


def preflight_for(origin: str, *, headers: str = _USUAL_HEADERS) -> dict[str, str]:
    """`headers` are those that the page may send."""
    return {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": headers,
        "Access-Control-Max-Age": str(_MAX_AGE_S),
        **VARY,
    }
