"""Alexandria at Firecrawl.

POST {base_url}/search    finding tools, which is free
POST {base_url}/scrape    one call: the free catalogue, or a tool that is paid for
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from shared.domain.alexandria import MAX_TOOLS, Call, Execution, Found, ReceiptState, Tool, ToolName, Trouble
from shared.domain.answer_bodies import JsonObject
from shared.domain.identifiers import new_nonce
from shared.domain.refusals import Meaning, refusal, shows_work
from shared.domain.registrations import Source
from shared.errors import (
    BlockedAddress,
    ExchangeError,
    KeyRefused,
    NeverConnected,
    Refused,
    Unclear,
)
from shared.ports.clock import Clock
from shared.ports.exchange import OutboundAnswer, OutboundRequest
from shared.ports.meter import Attempt, Meter
from shared.providers.alexandria_answers import CATALOGUE, document_in, read_execution, read_found, read_offer

EXECUTION_TIMEOUT_MS: Final = 20_000
_TERMS: Final = "THIRD_PARTY_DATA_TERMS_REQUIRED"
_NO_CREDITS: Final = "insufficient_credits"
_ALWAYS: Final = (
    Meaning(status=400, code=Trouble.OPTIONS_REFUSED),
    Meaning(status=401, code=Trouble.UNAUTHORIZED),
    Meaning(status=402, tag=_NO_CREDITS, code=Trouble.CREDITS_REFUSED, key="quota"),
    Meaning(status=402, tag="credit_budget_exceeded", code=Trouble.CREDITS_REFUSED),
    Meaning(status=403, tag=_TERMS, code=Trouble.TERMS_REQUIRED),
    Meaning(status=403, code=Trouble.FORBIDDEN),
    Meaning(status=408, code=Trouble.TIMEOUT, unclear=True),
    Meaning(status=409, code=Trouble.ALREADY_THERE, unclear=True),
    Meaning(status=429, code=Trouble.RATE_LIMITED, key="rate", scope="account"),
)
_NO_SUCH_TOOL: Final = Meaning(status=404, code=Trouble.NOT_FOUND)
# The service's own tests of an account, before anything else, answer 402 in prose alone. Where nothing is paid for,
# that is enough to try another key; where something is, only its own word for "nothing was executed" is.
SEARCH_REFUSALS: Final = (*_ALWAYS, Meaning(status=402, code=Trouble.CREDITS_REFUSED, key="quota"))
INSPECT_REFUSALS: Final = (*SEARCH_REFUSALS, _NO_SUCH_TOOL)
PAID_REFUSALS: Final = (*_ALWAYS, _NO_SUCH_TOOL, Meaning(status=402, code=Trouble.CREDITS_REFUSED))
_SAID_WAIT = re.compile(r"retry after ([0-9]{1,7})s", re.ASCII)
_TROUBLES: Final = frozenset(Trouble)


class AlexandriaCatalogue:
    """Implements `ports.alexandria.Alexandria`."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock

    async def search(self, source: Source, query: str, *, limit: int, meter: Meter) -> Found:
        limit = min(limit, MAX_TOOLS)
        body = {
            "query": query,
            "limit": limit,
            "sources": ["alexandria"],
            "toolDetail": "full",
            "domainTools": False,
        }
        answer = await self._free(f"{source.base_url}/search", _bytes_of(body), meter=meter, refusals=SEARCH_REFUSALS)
        return read_found(document_in(answer.headers, answer.body), limit=limit)

    async def inspect(self, source: Source, tool: ToolName, *, meter: Meter) -> Tool:
        options = {
            "providers": [tool.provider],
            "capabilities": [tool.capability],
            "level": "tools",
            "expand": ["options"],
            "limit": MAX_TOOLS,
        }
        body = _body_of_call(CATALOGUE, _bytes_of(options))
        answer = await self._free(
            f"{source.base_url}/scrape", body, meter=meter, refusals=INSPECT_REFUSALS, upstream_id=new_nonce()
        )
        return read_offer(document_in(answer.headers, answer.body), tool)

    async def execute(self, source: Source, call: Call, *, meter: Meter) -> Execution:
        trail = _Trail()
        body, url = _body_of_call(call.tool, call.options), f"{source.base_url}/scrape"

        async def work(attempt: Attempt) -> Execution:
            request = _request(url, body, key=attempt.key, upstream_id=call.upstream_id)
            answer = await _sent(attempt, request, trail)
            if answer.status == 200:
                return read_execution(document_in(answer.headers, answer.body, is_paid=True), call.tool)
            raise trail.noted(self._paid_refusal(answer))

        try:
            return await meter.perform(work)
        except ExchangeError as error:
            return trail.outcome(error)

    async def _free(
        self, url: str, body: bytes, *, meter: Meter, refusals: Sequence[Meaning], upstream_id: str | None = None
    ) -> OutboundAnswer:
        async def work(attempt: Attempt) -> OutboundAnswer:
            request = _request(url, body, key=attempt.key, upstream_id=upstream_id)
            answer = await attempt.exchange.send(lambda: request)
            if answer.status != 200:
                raise self._refusal(refusals, answer, document_in(answer.headers, answer.body))
            return answer

        return await meter.perform(work)

    def _refusal(self, table: Sequence[Meaning], answer: OutboundAnswer, document: JsonObject | None) -> ExchangeError:
        return refusal(
            table,
            status=answer.status,
            headers=answer.headers,
            body=document,
            tag=_tag_of(document),
            now=self._clock.now(),
            said_s=_said_wait_s(document),
        )

    def _paid_refusal(self, answer: OutboundAnswer) -> ExchangeError:
        """Only a refusal in the service's own form, without any sign of work, says that nothing was executed."""
        document = document_in(answer.headers, answer.body)
        is_plain = document is not None and document.get("success") is False and not shows_work(document)
        error = self._refusal(PAID_REFUSALS, answer, document if is_plain else None)
        return error if is_plain else Unclear(error.code, retry_at=error.retry_at)


class _Trail:
    """What is known of one call across its attempts."""

    def __init__(self) -> None:
        self.is_in_doubt = False  # a request left, and nothing says that it was not carried out
        self._is_free = True  # every refusal so far says that no credit was taken

    def noted(self, error: ExchangeError) -> ExchangeError:
        """The same error; remembers whether it answers for the request."""
        self.is_in_doubt = isinstance(error, Unclear)
        self._is_free = self._is_free and isinstance(error, KeyRefused) and error.reason == "quota"
        return error

    def outcome(self, error: ExchangeError) -> Execution:
        """Zero credits only where nothing left, or where each refusal says so itself."""
        return Execution(
            state=ReceiptState.UNKNOWN if self.is_in_doubt else ReceiptState.REFUSED,
            credits=0 if self._is_free and not self.is_in_doubt else None,
            trouble=Trouble(error.code) if error.code in _TROUBLES else Trouble.UPSTREAM_ERROR,
            retry_at=None if self.is_in_doubt else error.retry_at,
        )


async def _sent(attempt: Attempt, request: OutboundRequest, trail: _Trail) -> OutboundAnswer:
    trail.is_in_doubt = True
    try:
        return await attempt.exchange.send(lambda: request)
    except (NeverConnected, BlockedAddress):
        trail.is_in_doubt = False
        raise


def _request(url: str, body: bytes, *, key: str | None, upstream_id: str | None) -> OutboundRequest:
    if key is None:
        raise Refused("not_configured")
    named = () if upstream_id is None else (("x-request-id", upstream_id),)
    headers = (
        ("Authorization", f"Bearer {key}"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json"),
        ("User-Agent", "knowledge-gateway/1"),
        *named,
    )
    return OutboundRequest(method="POST", url=url, headers=headers, body=body)


def _body_of_call(tool: ToolName, options: bytes) -> bytes:
    """`options` are in their final form already, so that a repetition is the same to the byte."""
    names = _bytes_of({"provider": tool.provider, "capability": tool.capability})
    return b'{"alexandria":%s,"options":%s},"timeout":%d}' % (names[:-1], options, EXECUTION_TIMEOUT_MS)


def _bytes_of(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _tag_of(document: JsonObject | None) -> str | None:
    if document is None:
        return None
    action, code = document.get("requiresAction"), document.get("code")
    if isinstance(action, dict) and action.get("type") == "accept_terms":
        return _TERMS
    return code if isinstance(code, str) else None


def _said_wait_s(document: JsonObject | None) -> float | None:
    """The wait that a refusal states in its words, or in a field, and in no header."""
    if document is None:
        return None
    seconds, words = document.get("retry_after_seconds"), document.get("error")
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds >= 0:
        return float(seconds)
    match = _SAID_WAIT.search(words) if isinstance(words, str) else None
    return float(match[1]) if match else None
