"""The query string of lists: `limit` and `cursor`, nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from shared.errors import Invalid, Violation
from shared.web.cursors import List, sort_key_of
from shared.web.events import Event

DEFAULT_LIMIT = 25
MAX_LIMIT = 100
MAX_EXPORTED = 1000
_KNOWN = frozenset({"limit", "cursor"})


@dataclass(frozen=True, slots=True)
class PageQuery:
    """`after` is the sort key of the last item that the caller has seen."""

    limit: int
    after: str | None


def page_query(event: Event, which: List, *, default: int = DEFAULT_LIMIT, most: int = MAX_LIMIT) -> PageQuery:
    """`limit` is up to `most`. Raises `Invalid`, also for parameters that are not known here."""
    given: dict[str, str] = event["queryStringParameters"]
    violations = tuple(
        Violation(f"/{name}", "This parameter is not known here.") for name in sorted(given.keys() - _KNOWN)
    )
    if violations:
        raise Invalid("Correct the parameters named in `errors`.", violations=violations)
    cursor = given.get("cursor")
    return PageQuery(
        limit=_limit(given.get("limit"), default=default, most=most),
        after=None if cursor is None else sort_key_of(which, cursor),
    )


def _limit(text: str | None, *, default: int, most: int) -> int:
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) <= 4 and 1 <= int(text) <= most):
        violation = Violation("/limit", f"Send a whole number from 1 to {most}.")
        raise Invalid("Correct the parameters named in `errors`.", violations=(violation,))
    return int(text)
