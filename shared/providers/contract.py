"""Any endpoint that speaks the provider contract, version 1.

POST {base_url}/retrieve        signed over the body's bytes
GET  {base_url}/capabilities    signed over no bytes at all
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final, Literal

from shared.domain.answer_bodies import is_json
from shared.domain.identifiers import new_nonce
from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import CONTRACT_VERSION, Capabilities, SigningSecrets, Source
from shared.domain.retry_times import retry_at
from shared.domain.signatures import signature_header
from shared.errors import ExchangeError, Refused
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange, OutboundAnswer, OutboundRequest
from shared.ports.retriever import Declaration, RetrieverLimits
from shared.providers.contract_answers import read_declaration, read_retrieval

LIMITS: Final = RetrieverLimits(query_characters=1024, results=50, timeout_s=10.0)
_REFUSALS: Final = {401: "unauthorized", 403: "forbidden", 404: "not_found", 429: "rate_limited"}
_SAYS_WHEN: Final = frozenset({429, 503})  # a Retry-After on these is listened to
_NO_SUCH_PAGE: Final = frozenset({404, 405})
_JSON: Final = "application/json"


class ContractRetriever:
    """`allow_test_names` lets citations name hosts under `.test`: for the embedded default alone."""

    def __init__(self, *, clock: Clock, allow_test_names: bool) -> None:
        self._clock = clock
        self._allow_test_names = allow_test_names

    @property
    def limits(self) -> RetrieverLimits:
        return LIMITS

    async def retrieve(
        self, source: Source, question: Question, *, secrets: SigningSecrets, exchange: Exchange
    ) -> Retrieval:
        if len(question.query) > LIMITS.query_characters:
            raise Refused("query_too_long")
        limit = min(question.limit, LIMITS.results)
        body = _body(question, limit=limit, capabilities=source.capabilities)
        url = f"{source.base_url}/retrieve"
        answer = await exchange.send(self._signed("POST", url, body, secrets=secrets, exchange=exchange))
        self._check(answer)
        return read_retrieval(answer.body, limit=limit, allow_test_names=self._allow_test_names)

    async def declare(self, source: Source, *, secrets: SigningSecrets, exchange: Exchange) -> Declaration:
        url = f"{source.base_url}/capabilities"
        answer = await exchange.send(self._signed("GET", url, b"", secrets=secrets, exchange=exchange))
        if answer.status in _NO_SUCH_PAGE:
            return Declaration(contract_version=CONTRACT_VERSION, capabilities=Capabilities(), listed=False)
        self._check(answer)
        return read_declaration(answer.body)

    def _signed(
        self, method: Literal["GET", "POST"], url: str, body: bytes, *, secrets: SigningSecrets, exchange: Exchange
    ) -> Callable[[], OutboundRequest]:
        """Builds the request anew each time it is sent: the same bytes under a new nonce, time and signature."""

        def build() -> OutboundRequest:
            nonce = new_nonce()
            signature = signature_header(secrets, timestamp=int(self._clock.now()), nonce=nonce, body=body)
            headers = (
                ("X-Helpthread-Knowledge-Version", str(CONTRACT_VERSION)),
                ("X-Helpthread-Request", nonce),
                ("X-Helpthread-Signature", signature),
                ("X-Helpthread-Deadline-Ms", str(exchange.remaining_ms())),
                ("Accept", _JSON),
                ("User-Agent", "knowledge-gateway/1"),
            )
            typed = (*headers, ("Content-Type", _JSON)) if method == "POST" else headers
            return OutboundRequest(method=method, url=url, headers=typed, body=body)

        return build

    def _check(self, answer: OutboundAnswer) -> None:
        """Raises the refusal that a status means, and `invalid_response` for a success that is not JSON."""
        if answer.status != 200:
            raise self._refusal(answer)
        if not is_json(answer.headers.get("content-type", "")):
            raise Refused("invalid_response")

    def _refusal(self, answer: OutboundAnswer) -> ExchangeError:
        if 200 < answer.status < 300:
            return Refused("invalid_response")
        says = answer.headers.get("retry-after") if answer.status in _SAYS_WHEN else None
        return Refused(_REFUSALS.get(answer.status, "upstream_error"), retry_at=retry_at(says, now=self._clock.now()))


def _body(question: Question, *, limit: int, capabilities: Capabilities) -> bytes:
    """The request body, serialised here and nowhere again: these bytes are signed, and these are sent."""
    fields: dict[str, object] = {"query": question.query, "limit": limit}
    if capabilities.locale and question.locale is not None:
        fields["locale"] = question.locale
    if capabilities.locale_fallback and question.locale_fallback is not None:
        fields["localeFallback"] = question.locale_fallback
    if question.conversation_id is not None:
        fields["context"] = {"conversationId": question.conversation_id}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
