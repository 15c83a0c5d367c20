"""What a problem says, for people: where it lies, what to do, and the id under which the logs have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

_MOST_FAULTS: Final = 20
_INDENT: Final = "     "
_USUAL: Final = frozenset({"type", "title", "status", "code", "requestId", "detail", "errors", "message"})
# What this command has for a code; of the others, what to do about them anywhere.
_HERE: Final = {
    "precondition_failed": "Somebody else changed it in between, and nothing was changed now. Look at it again (show), "
    "then repeat the command.",
    "unauthenticated": "The token is unknown, revoked or expired, or of a class that may not do this. kgw profiles "
    "says which one is used; kgw login takes another.",
    "test_required": "Let it pass a test: kgw providers test ID --query TEXT --activate",
    "rotation_pending": "Wait until the window ends, or give the oldest secret up: --replace-pending",
    "risk_not_acknowledged": "Say --acknowledge plain_http or --acknowledge private_network for exactly this URL.",
    "instance_in_use": "kgw instances delete ID --with-bindings deletes what is bound to it too.",
    "root_protected": "Root is only switched off and on: kgw credentials update root --status disabled",
}


def told_problem(problem: Mapping[str, Any], *, retry_after_s: float | None) -> Iterator[str]:
    """Lines below the first one, which has status, code and detail."""
    errors = problem.get("errors")
    for fault in (errors if isinstance(errors, list) else [])[:_MOST_FAULTS]:
        if isinstance(fault, dict):
            yield f"{_INDENT}{fault.get('pointer', '')}: {fault.get('detail', '')}"
    for name, value in problem.items():
        if name not in _USUAL and not isinstance(value, dict):
            yield f"{_INDENT}{name}: {', '.join(map(str, value)) if isinstance(value, list) else value}"
    code = str(problem.get("code", ""))
    if advice := _HERE.get(code) or _anywhere(code):
        yield _INDENT + advice
    if retry_after_s is not None:
        yield f"{_INDENT}It may be tried again in {retry_after_s:.0f} s."
    if request_id := problem.get("requestId"):
        yield f"{_INDENT}request {request_id}"


def _anywhere(code: str) -> str | None:
    from infra.openapi.problem_words import PROBLEMS  # only where something has gone wrong

    return PROBLEMS[code].advice if code in PROBLEMS else None
