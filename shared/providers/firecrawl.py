"""Firecrawl: fetches one page and gives its text as Markdown.

POST {base_url}/scrape      strict about its fields: a name that it does not know is refused

Each field is there for a reason: no PDF is parsed (that is charged by the page), no dearer proxy is taken, the
certificate of the page's site is verified, and an ordinary text may be two days old.
"""

from __future__ import annotations

import json
import re
from typing import Final

from shared.domain.acquisitions import Acquired, Wanted
from shared.domain.answer_bodies import JsonObject, typed_object_in
from shared.domain.live_configs import FirecrawlConfig
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import FreshnessWish
from shared.domain.refusals import Meaning, refusal
from shared.domain.registrations import Source
from shared.errors import ExchangeError, Refused
from shared.ports.clock import Clock
from shared.ports.exchange import OutboundAnswer, OutboundRequest
from shared.ports.meter import Attempt, Meter
from shared.providers.firecrawl_answers import Reader

SCRAPE_TIMEOUT_MS: Final = 10_000
OLDEST_MS: Final = 172_800_000
REFUSALS: Final = (
    Meaning(status=200, tag="SCRAPE_DNS_RESOLUTION_ERROR", code="not_found"),
    Meaning(status=200),
    Meaning(status=401, code="unauthorized"),
    Meaning(status=402, key="quota", scope="account"),
    Meaning(status=403, code="forbidden"),
    Meaning(status=403, tag="UNSUPPORTED_SITE", code="capability_unavailable"),
    Meaning(status=403, tag="unsafe_domain_blocked", code="capability_unavailable"),
    Meaning(status=403, tag="SCRAPE_MEDIA_ACCESS_DENIED", code="capability_unavailable"),
    Meaning(status=403, tag="SCRAPE_PROMPT_INJECTION_DETECTED", code="capability_unavailable"),
    Meaning(status=403, tag="SAFE_MODE_BLOCKED", code="capability_unavailable"),
    Meaning(status=404, tag="SCRAPE_NO_CACHED_DATA", code="not_found"),
    Meaning(status=408, code="timeout", unclear=True),
    Meaning(status=408, tag="CONCURRENCY_QUEUE_TIMEOUT", code="rate_limited"),  # it never left the queue
    Meaning(status=429, code="rate_limited", key="rate", scope="account"),
    # The service tried, and says what came of it.
    Meaning(status=500, tag="SCRAPE_DNS_RESOLUTION_ERROR", code="not_found"),
    Meaning(status=500, tag="SCRAPE_ALL_ENGINES_FAILED"),
    Meaning(status=500, tag="SCRAPE_SITE_ERROR"),
    Meaning(status=500, tag="SCRAPE_SSL_ERROR"),
    Meaning(status=500, unclear=True),
)
_WAIT_IN_WORDS = re.compile(r"retry after ([0-9]{1,7})s\b", re.ASCII | re.IGNORECASE)
_MOST_WORDS: Final = 2_048
_JSON: Final = "application/json"


class FirecrawlAcquirer:
    """Implements `ports.live_retriever.Acquirer`. `allow_test_names` takes pages under `.test`: for the embedded
    default alone.
    """

    def __init__(self, *, clock: Clock, allow_test_names: bool) -> None:
        self._clock = clock
        self._allow_test_names = allow_test_names

    async def acquire(self, source: Source, wanted: Wanted, *, meter: Meter) -> Acquired:
        policy = source.config
        if not isinstance(policy, FirecrawlConfig):
            raise Refused(OutcomeCode.NOT_CONFIGURED)
        reader = Reader(wanted, policy, allow_test_names=self._allow_test_names)
        body = _body(wanted)

        async def scrape(attempt: Attempt) -> Acquired:
            request = _request(source, attempt, body)
            return self._read(await attempt.exchange.send(lambda: request), reader)

        return await meter.perform(scrape)

    def _read(self, answer: OutboundAnswer, reader: Reader) -> Acquired:
        document = typed_object_in(answer.headers, answer.body)
        if answer.status != 200:
            raise self._refusal(answer, document)
        if document is None or not isinstance(document.get("success"), bool):
            raise Refused(OutcomeCode.INVALID_RESPONSE)
        if document["success"] is False:
            raise self._refusal(answer, document)
        return reader.acquired(document.get("data"))

    def _refusal(self, answer: OutboundAnswer, document: JsonObject | None) -> ExchangeError:
        return refusal(
            REFUSALS,
            status=answer.status,
            headers=answer.headers,
            body=document,
            tag=_tag(document),
            now=self._clock.now(),
            said_s=_wait_in_words(document),
        )


def _request(source: Source, attempt: Attempt, body: bytes) -> OutboundRequest:
    if attempt.key is None:
        raise Refused(OutcomeCode.NOT_CONFIGURED)
    headers = (
        ("Authorization", f"Bearer {attempt.key}"),
        ("Accept", _JSON),
        ("Content-Type", _JSON),
        ("User-Agent", "knowledge-gateway/1"),
    )
    return OutboundRequest(method="POST", url=f"{source.base_url}/scrape", headers=headers, body=body)


def _body(wanted: Wanted) -> bytes:
    fields = {
        "url": wanted.url,
        "formats": ["markdown"],
        "onlyMainContent": True,
        "parsers": [],
        "proxy": "basic",
        "skipTlsVerification": False,
        "timeout": SCRAPE_TIMEOUT_MS,
        "maxAge": OLDEST_MS if wanted.freshness is FreshnessWish.NORMAL else 0,
    }
    return json.dumps(fields, separators=(",", ":")).encode()


def _tag(document: JsonObject | None) -> str | None:
    """The code, or the error where that is one: prose is in no row of the table."""
    words = (document or {}).get("code") or (document or {}).get("error")
    return words if isinstance(words, str) else None


def _wait_in_words(document: JsonObject | None) -> float | None:
    """Seconds: a limit says when it ends in its sentence alone."""
    sentence = (document or {}).get("error")
    match = _WAIT_IN_WORDS.search(sentence[:_MOST_WORDS]) if isinstance(sentence, str) else None
    return float(match[1]) if match else None
