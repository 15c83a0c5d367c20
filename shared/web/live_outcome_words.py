"""What some outcome codes mean at a hosted live service, where that differs from a provider of one's own."""

from __future__ import annotations

from typing import Final

from shared.domain.acquisitions import LEFT_APPROVED_HOSTS
from shared.domain.outcomes import OutcomeCode
from shared.domain.trials import TrialCode
from shared.web.outcome_words import OUTCOME_WORDS, Words

LIVE_WORDS: Final[dict[TrialCode, Words]] = {
    OutcomeCode.TIMEOUT: Words(
        "The service did not answer completely in its time. With less than three seconds left it is not asked at all.",
        "Give a search a `deadlineMs` of 3,500 or more. An operation that stays unknown counts until it is reviewed.",
    ),
    OutcomeCode.CONNECTION_FAILED: Words(
        "No connection to the service could be made.",
        "Test again in a while; if it lasts, check that the function may reach the internet.",
    ),
    OutcomeCode.RATE_LIMITED: Words(
        "The service takes no more requests now.", "Ask less often; `retryAt` says when, where the service did."
    ),
    OutcomeCode.UNAUTHORIZED: Words(
        "The service rejected the key. No other key is tried for that.",
        "Replace the key that `GET /api/v1/knowledge/pools` shows as active, or rest it.",
    ),
    OutcomeCode.FORBIDDEN: Words(
        "The service refused: the account may not do that, or the service takes nothing from this network.",
        "Look into the account at the service.",
    ),
    OutcomeCode.NOT_FOUND: Words(
        "The service does not know what was asked about.",
        "Check the library, the repository or the address of the source.",
    ),
    OutcomeCode.INVALID_RESPONSE: Words(
        "The service answered in a form that is not the documented one.",
        "Test again; if it lasts, report it: the service may have changed.",
    ),
    OutcomeCode.UPSTREAM_ERROR: Words(
        "The service answered with a server error or another unexpected status. It may still have done the work.",
        "Test again in a while. An operation that stays unknown counts until it is reviewed.",
    ),
    OutcomeCode.RESPONSE_TOO_LARGE: Words(
        "The answer is larger than 1 MiB, on the wire or after decoding. It is refused whole.",
        "Ask for less: fewer results, fewer characters, or another source.",
    ),
    OutcomeCode.QUERY_TOO_LONG: Words(
        "The query is longer than this service takes. It is never cut silently.", "Send a shorter query."
    ),
    OutcomeCode.CAPABILITY_UNAVAILABLE: Words(
        "The service cannot give that: certainly new text in a search (`force`), text of a source that has none, a "
        "tool that is gone, any search at all (firecrawl).",
        "Search with `fresh`, or acquire the source with `force`. If a service no longer offers its tool, report it.",
    ),
    OutcomeCode.NOT_CONFIGURED: Words(
        "The pool has no key, or keys or the ledger could not be read. Nothing was sent.",
        "Look at `GET /api/v1/knowledge/pools`; add a key where there is none.",
    ),
    LEFT_APPROVED_HOSTS: Words(
        "The source leads to a host that is not approved. Its text was dropped.",
        "Approve that host, or test another source.",
    ),
}


def live_explanation_of(code: TrialCode | None) -> str | None:
    """None for None."""
    if code is None:
        return None
    return " ".join(LIVE_WORDS[code] if code == LEFT_APPROVED_HOSTS else LIVE_WORDS.get(code) or OUTCOME_WORDS[code])
