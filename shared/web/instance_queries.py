"""The query string of deleting an instance: `bindings`, which confirms what goes with it."""

from __future__ import annotations

from typing import Final

from shared.domain.identifiers import exposure_of
from shared.domain.instances import MAX_BINDINGS_PER_INSTANCE
from shared.errors import Invalid, Violation
from shared.web.events import Event

_KNOWN: Final = frozenset({"bindings"})


def bindings_named(event: Event) -> frozenset[str]:
    """The provider ids in `bindings`, between commas; none without it. Raises `Invalid`, also for other parameters."""
    given: dict[str, str] = event["queryStringParameters"]
    violations = [Violation(f"/{name}", "This parameter is not known here.") for name in sorted(given.keys() - _KNOWN)]
    ids = given["bindings"].split(",") if "bindings" in given else []
    if len(ids) > MAX_BINDINGS_PER_INSTANCE or any(exposure_of(each) is None for each in ids):
        violations.append(Violation("/bindings", "Send the ids of providers, with commas between them."))
    if violations:
        raise Invalid("Correct the parameters named in `errors`.", violations=tuple(violations))
    return frozenset(ids)
