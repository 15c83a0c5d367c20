"""What some outcome codes mean at a self-hosted server, where that differs from a provider that speaks the contract."""

from __future__ import annotations

from typing import Final

from shared.domain.outcomes import OutcomeCode
from shared.web.outcome_words import OUTCOME_WORDS, Words

SERVER_WORDS: Final[dict[OutcomeCode, Words]] = {
    OutcomeCode.TIMEOUT: Words(
        "The server did not answer completely in its time, name look-up included.",
        "Give it a longer `requestTimeoutMs`, or look at its load: its models may be slow to answer.",
    ),
    OutcomeCode.BLOCKED_ADDRESS: Words(
        "The host has an address that is never dialled, or a private or plain one that was not acknowledged.",
        "Acknowledge the risk for exactly this base URL; a private address needs the deployment's VPC option, too.",
    ),
    OutcomeCode.RATE_LIMITED: Words(
        "The server takes no more requests now.", "Ask less often, or raise the limit in the product."
    ),
    OutcomeCode.UNAUTHORIZED: Words(
        "The server rejected the credential, or there is none.",
        "Replace it: dify takes a knowledge (dataset) key, fastgpt a key that is not tied to one app, ragflow an API "
        "key of the account.",
    ),
    OutcomeCode.FORBIDDEN: Words(
        "The credential may not do that: read the list, or reach this knowledge base by API.",
        "Give the key the right to it, switch API access on in the product, or bind by an id that you know.",
    ),
    OutcomeCode.NOT_FOUND: Words(
        "The server knows no such page or knowledge base, or the credential may not see it.",
        "Check the base URL and its prefix (dify `/v1`, fastgpt `/api`), and the remote id.",
    ),
    OutcomeCode.INVALID_RESPONSE: Words(
        "What answered does not answer like this product: a page of a proxy, or a version that is not known here.",
        "Check that the base URL is that of the product's API and not of its web pages.",
    ),
    OutcomeCode.UNSUPPORTED_VERSION: Words(
        "What answered does not take what is sent: a version that is not supported, or another page of the server.",
        "Compare with the versions in docs/self-hosted.md, and check the base URL.",
    ),
    OutcomeCode.RESPONSE_TOO_LARGE: Words(
        "The answer is larger than 1 MiB, on the wire or after decoding. It is refused whole.",
        "Ask for fewer results, or let the product cut its texts into smaller pieces.",
    ),
    OutcomeCode.UPSTREAM_ERROR: Words(
        "The server failed: often its embedding or rerank model, or the store of its vectors.",
        "Try the same search in the product itself, and look into its log.",
    ),
    OutcomeCode.QUERY_TOO_LONG: Words(
        "The query is longer than this server takes. It is never cut silently.",
        "Send a shorter query: dify takes 250 characters.",
    ),
    OutcomeCode.CAPABILITY_UNAVAILABLE: Words(
        "The server does not offer that for this knowledge base: nothing is indexed yet, or a model is missing.",
        "Let the product finish it, give it its model, or leave the setting out that it does not know.",
    ),
    OutcomeCode.NOT_CONFIGURED: Words(
        "The credential could not be opened or cannot be sent, or the binding was tested with an older adapter. "
        "Nothing was sent.",
        "Replace the credential; where `configInvalid` is true, change the config or restore the defaults.",
    ),
}


def server_explanation_of(code: OutcomeCode | None) -> str | None:
    """None for None."""
    if code is None:
        return None
    return " ".join(SERVER_WORDS.get(code) or OUTCOME_WORDS[code])
