"""What each outcome code means and what an operator can do: shown by provider tests and in `docs/errors.md`."""

from __future__ import annotations

from typing import NamedTuple

from shared.domain.outcomes import OutcomeCode


class Words(NamedTuple):
    happened: str
    advice: str


OUTCOME_WORDS: dict[OutcomeCode, Words] = {
    OutcomeCode.TIMEOUT: Words(
        "The provider did not answer completely in its time, name look-up included.",
        "Make the provider faster, or give the search a longer `deadlineMs`.",
    ),
    OutcomeCode.CONNECTION_FAILED: Words(
        "No connection could be made: the name has no address, the port is closed, or the certificate is not valid.",
        "Check the host name, the port and the certificate of the base URL.",
    ),
    OutcomeCode.BLOCKED_ADDRESS: Words(
        "The host has an address that is never dialled, or a private one that this registration may not reach.",
        "Use a public address, or `allowPrivateNetwork` where the deployment has a private network.",
    ),
    OutcomeCode.RATE_LIMITED: Words(
        "The provider takes no more requests now.",
        "Ask less often, or raise the provider's limit. `retryAt` says when, where the provider did.",
    ),
    OutcomeCode.UNAUTHORIZED: Words(
        "The provider rejected the signature, the key or the credential that it was sent.",
        "Compare a contract provider's secret with `secretFingerprint`, without white space around it, and check its "
        "clock. Replace the credential of any other.",
    ),
    OutcomeCode.FORBIDDEN: Words(
        "The provider refused: it does not let this gateway do that.",
        "Let a contract provider accept signed requests of this gateway. Give the credential of any other the right.",
    ),
    OutcomeCode.NOT_FOUND: Words(
        "The provider knows no such page, knowledge base or source, or the search named a provider that this "
        "credential cannot reach.",
        "Check the base URL (`/retrieve` is appended to that of a contract provider), what the provider is bound to, "
        "or the ids in `providers`.",
    ),
    OutcomeCode.INVALID_RESPONSE: Words(
        "The answer is not one of this kind of provider: not JSON, a wrong type or a missing field.",
        "Check that the base URL leads to the provider and not to a page before it. Run the conformance checks against "
        "a contract provider.",
    ),
    OutcomeCode.UNSUPPORTED_VERSION: Words(
        "The provider is of a version that is not supported.",
        "Let a contract provider answer with `contractVersion: 1`. Compare a self-hosted server with the versions in "
        "docs/self-hosted.md.",
    ),
    OutcomeCode.RESPONSE_TOO_LARGE: Words(
        "The answer is larger than 1 MiB, on the wire or after decoding. It is refused whole.",
        "Let the provider return shorter snippets.",
    ),
    OutcomeCode.UPSTREAM_ERROR: Words(
        "The provider answered with a server error, a redirect (none is followed) or another unexpected status.",
        "Look into the provider's own log; the request carries `X-Helpthread-Request`.",
    ),
    OutcomeCode.QUERY_TOO_LONG: Words(
        "The query is longer than this provider takes. It is never cut silently.",
        "Send a shorter query: a contract provider takes 1,024 characters.",
    ),
    OutcomeCode.MISSING_INPUT: Words(
        "This provider needs something that the request does not carry.",
        "context7: send `product` or `repository`, unless its config has a `library`. deepwiki: send `repository`, one "
        "of those that its config lists, unless that is only one. No other kind needs more than a query.",
    ),
    OutcomeCode.NOT_CONFIGURED: Words(
        "The provider is not set up, or its secret could not be opened. Nothing was sent to it.",
        "Complete its configuration. If it lasts, rotate its secret and check the function's access to its key.",
    ),
    OutcomeCode.KEYS_EXHAUSTED: Words(
        "Every key of this provider's pool is resting.",
        "Wait until `retryAt`, or add a key.",
    ),
    OutcomeCode.ALLOWANCE_EXHAUSTED: Words(
        "The operations allowed for this provider in 24 hours are used up.",
        "Wait, or raise the allowance.",
    ),
    OutcomeCode.CAPABILITY_UNAVAILABLE: Words(
        "The provider does not offer what was asked for, here or yet.",
        "Leave that wish out, or read a contract provider's capabilities again.",
    ),
    OutcomeCode.CIRCUIT_OPEN: Words(
        "The provider failed three times in a row, or asked to be left alone, and is not asked for a while.",
        "Nothing has to be done: from `retryAt` on it is tried again. Mend it where it does not recover.",
    ),
    OutcomeCode.TERMS_REQUIRED: Words(
        "The provider asks its owner to accept terms first.",
        "Accept them with the provider, then search again.",
    ),
    OutcomeCode.DISABLED: Words(
        "The provider is switched off: by an operator, because it has to pass a test first, or because it refused our "
        "credentials three times in a row or answered against its contract five times in a row.",
        "Test it with `activate: true`; where its `needsTest` is false, a change to `status: active` does it too.",
    ),
    OutcomeCode.CONFIG_CHANGED: Words(
        "The registration changed while the search was running.",
        "Search again.",
    ),
    OutcomeCode.CANCELLED: Words(
        "The answer was due before this provider's turn was over.",
        "Give the search a longer `deadlineMs`.",
    ),
    OutcomeCode.INTERNAL_ERROR: Words(
        "The gateway itself failed at this one provider.",
        "Report it with the request id.",
    ),
}


def explanation_of(code: OutcomeCode) -> str:
    return " ".join(OUTCOME_WORDS[code])
