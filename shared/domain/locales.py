"""Locales of answers: language tags (BCP 47) compared by basic filtering (RFC 4647, section 3.3.1)."""

from __future__ import annotations

from collections.abc import Iterable


def matches(wanted: str, given: str) -> bool:
    """Whether the tag `given` lies within the range `wanted`: equal, or `wanted` followed by more subtags."""
    range_, tag = wanted.lower(), given.lower()
    return range_ == "*" or tag == range_ or tag.startswith(range_ + "-")


def is_fallback(wanted: str | None, given: str | None) -> bool | None:
    """Whether a passage is in another locale than the one asked for. None when either is unknown."""
    if wanted is None or given is None:
        return None
    return not matches(wanted, given)


def common_locale(locales: Iterable[str | None]) -> str | None:
    """The one locale that all share, spelled as in the first. None when one differs or is unknown, or there is none."""
    every = list(locales)
    if not every or every[0] is None:
        return None
    first = every[0]
    return first if all(other is not None and other.lower() == first.lower() for other in every) else None
