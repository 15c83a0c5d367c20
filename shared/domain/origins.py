"""Web origins, compared as browsers serialise them: scheme, host and port, exactly."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MAX_ORIGIN_CHARACTERS = 300
_ORIGIN = re.compile(r"https?://[a-z0-9.\-_\[\]:]+", re.ASCII | re.IGNORECASE)


def comparable_origin(header: str | None) -> str | None:
    """An `Origin` header in the form in which origins are listed (lower case), or None for anything else: no header,
    `null`, several origins, a path or trailing slash, any character beyond ASCII.
    """
    if header is None or len(header) > _MAX_ORIGIN_CHARACTERS or _ORIGIN.fullmatch(header) is None:
        return None
    return header.lower()


def is_listed(header: str | None, listed: Iterable[str]) -> bool:
    origin = comparable_origin(header)
    return origin is not None and origin in listed
