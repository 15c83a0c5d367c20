"""Problems that a model can do something about, as results of the tool that it called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from shared.errors import (
    BadRequest,
    Invalid,
    NotFound,
    Problem,
    ProviderFailed,
    ProviderTimeout,
    ProviderUnavailable,
    Violation,
)
from shared.web.mcp.quoting import named
from shared.web.mcp.tool import Runs, ToolCall, ToolResult
from shared.web.problems import headers_of

# All others concern the credential or the gateway: they are no tool's business.
TOLD: Final = (BadRequest, Invalid, NotFound, ProviderFailed, ProviderUnavailable, ProviderTimeout)

_OTHER_SOURCE: Final = "Fetch another source, or search for its text."
_LATER: Final = "Try again later, or search instead."
_OPERATOR: Final = "Calling again does not help: tell the operator of the gateway."
ADVICE: Final[Mapping[str, str]] = {
    "invalid_request": "Correct these arguments and call again.",
    "body_not_json": "Send one JSON object, each key once.",
    "invalid_source_url": "Correct `url` and call again.",
    "source_not_approved": "Fetch a source of a host that is approved; passages of a search cite such ones.",
    "not_found": "Check the id. Those of collections come from the operator of the gateway, and no tool lists them: "
    "without one, search instead. What exists and this credential may not see looks the same.",
    "source_not_found": "Check the address. " + _OTHER_SOURCE,
    "source_not_readable": _OTHER_SOURCE,
    "source_too_large": _OTHER_SOURCE,
    "source_not_fresh": "Call again with `freshness` normal or fresh: then a text from before is taken, too.",
    "redirect_not_approved": _OTHER_SOURCE,
    "provider_failed": _LATER,
    "provider_timeout": "Whether the source was fetched is not known. " + _LATER,
    "provider_rate_limited": _LATER,
    "keys_exhausted": _LATER,
    "allowance_exhausted": _LATER,
    "circuit_open": _LATER,
    "disabled": _OPERATOR,
    "not_configured": _OPERATOR,
}

# What a model does not make enough of, in words that it does: it tends to send "5", and to repeat that.
_PLAINER: Final[Mapping[str, str]] = {
    "Input should be a valid integer.": "Write a whole number such as 5, without quotation marks.",
}


def telling(run: Runs) -> Runs:
    """`run`, with these problems as results. Raises the others."""

    def told(call: ToolCall) -> ToolResult:
        try:
            return run(call)
        except TOLD as problem:
            return result_of(problem)

    return told


def result_of(problem: Problem) -> ToolResult:
    """Without a structured part: it is not what the tool's output schema describes."""
    return ToolResult(text="\n".join(_lines(problem)), is_error=True, headers=headers_of(problem))


def _lines(problem: Problem) -> Iterator[str]:
    said = problem.title if problem.violations else problem.detail or problem.title
    yield f"{problem.code}: {said.rstrip('.')}. {ADVICE.get(problem.code, '')}".rstrip()
    yield from (_wrong(violation) for violation in problem.violations)
    for name, fact in problem.facts.items():
        yield f"{name}: {named(str(fact))}"
    if problem.retry_after_s is not None:
        yield f"Try again in {max(1, problem.retry_after_s)} s, not before."


def _wrong(violation: Violation) -> str:
    field = violation.pointer.removeprefix("/")
    said = _PLAINER.get(violation.detail, violation.detail)
    return f"- {named(field)}: {said}" if field else f"- {said}"
