"""Exa: searches approved hosts and returns the text of what it found; also fetches the text of one approved page.

POST {base_url}/search      the options for texts lie inside `contents`
POST {base_url}/contents    the same options, at the top; it answers 200 also when nothing could be fetched
"""

from __future__ import annotations

import json
from functools import partial
from typing import Final

from shared.domain.acquisitions import MAX_TEXT_CHARACTERS, Acquired, Wanted
from shared.domain.answer_bodies import JsonObject, typed_object_in
from shared.domain.forced import check_not_forced
from shared.domain.live_configs import ExaConfig
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import FreshnessWish, Question, Retrieval
from shared.domain.refusals import Meaning, refusal
from shared.domain.registrations import Source
from shared.errors import ExchangeError, Refused
from shared.ports.clock import Clock
from shared.ports.exchange import OutboundAnswer, OutboundRequest
from shared.ports.meter import Attempt, Meter
from shared.ports.retriever import RetrieverLimits
from shared.providers.exa_answers import read_acquired, read_retrieval

LIMITS: Final = RetrieverLimits(query_characters=4_000, results=10, timeout_s=25.0)
_NO_KEY_ARRIVED: Final = "X402_PAYMENT_REQUIRED"  # an offer to pay by other means, made to whoever sends no key
REFUSALS: Final = (
    Meaning(status=401, code=OutcomeCode.UNAUTHORIZED),
    Meaning(status=402, key="quota"),
    Meaning(status=402, tag="API_KEY_BUDGET_EXCEEDED", key="quota"),
    Meaning(status=402, tag="NO_MORE_CREDITS", key="quota", scope="account"),
    Meaning(status=402, tag="TEAM_BUDGET_EXCEEDED", key="quota", scope="account"),
    Meaning(status=402, tag=_NO_KEY_ARRIVED, code=OutcomeCode.NOT_CONFIGURED),
    Meaning(status=403, code=OutcomeCode.FORBIDDEN),
    Meaning(status=404, code=OutcomeCode.NOT_FOUND),
    Meaning(status=408, code=OutcomeCode.TIMEOUT, unclear=True),
    Meaning(status=429, code=OutcomeCode.RATE_LIMITED, key="rate"),
    Meaning(status=429, tag="RATE_LIMIT_EXCEEDED", code=OutcomeCode.RATE_LIMITED, key="rate", scope="account"),
    Meaning(status=429, tag="X402_TOO_MANY_UNPAID", code=OutcomeCode.NOT_CONFIGURED),
    Meaning(status=429, tag="X402_WALLET_RATE_LIMITED", code=OutcomeCode.NOT_CONFIGURED),
    Meaning(status=503, tag="SERVICE_OVERLOADED"),  # said to be neither processed nor billed
    Meaning(status=504, code=OutcomeCode.TIMEOUT, unclear=True),
)
_JSON: Final = "application/json"


class ExaRetriever:
    """Implements `ports.live_retriever.LiveRetriever` and `Acquirer`. `allow_test_names` lets sources have hosts under
    `.test`: for the embedded default alone.
    """

    def __init__(self, *, clock: Clock, allow_test_names: bool) -> None:
        self._clock = clock
        self._allow_test_names = allow_test_names

    @property
    def limits(self) -> RetrieverLimits:
        return LIMITS

    async def retrieve(self, source: Source, question: Question, *, meter: Meter) -> Retrieval:
        config = _config(source)
        check_not_forced(question)
        if len(question.query) > LIMITS.query_characters:
            raise Refused(OutcomeCode.QUERY_TOO_LONG)
        limit = min(question.limit, config.results, LIMITS.results)
        body: dict[str, object] = {
            "query": question.query,
            "type": config.search_type.value,
            "numResults": limit,
            "includeDomains": list(config.approved_hosts),
            "contents": _contents(config.max_characters, question.freshness),
        }
        answer = await meter.perform(partial(self._post, f"{source.base_url}/search", _serialised(body)))
        return read_retrieval(answer, limit=limit, config=config, allow_test_names=self._allow_test_names)

    async def acquire(self, source: Source, wanted: Wanted, *, meter: Meter) -> Acquired:
        config = _config(source)
        characters = min(config.max_characters, MAX_TEXT_CHARACTERS)
        body = {"urls": [wanted.url], **_contents(characters, wanted.freshness)}
        answer = await meter.perform(partial(self._post, f"{source.base_url}/contents", _serialised(body)))
        return read_acquired(
            answer, wanted, characters=characters, policy=config, allow_test_names=self._allow_test_names
        )

    async def _post(self, url: str, body: bytes, attempt: Attempt) -> JsonObject:
        """The object that a success carries. Raises the refusal that any other answer means."""
        if not attempt.key:
            raise Refused(OutcomeCode.NOT_CONFIGURED)
        headers = (
            ("x-api-key", attempt.key),
            ("Content-Type", _JSON),
            ("Accept", _JSON),
            ("User-Agent", "knowledge-gateway/1"),
        )
        build = partial(OutboundRequest, method="POST", url=url, headers=headers, body=body)
        answer = await attempt.exchange.send(build)
        found = typed_object_in(answer.headers, answer.body)
        if answer.status != 200:
            raise self._refusal(answer, found)
        if found is None:
            raise Refused(OutcomeCode.INVALID_RESPONSE)
        return found

    def _refusal(self, answer: OutboundAnswer, body: JsonObject | None) -> ExchangeError:
        return refusal(
            REFUSALS,
            status=answer.status,
            headers=answer.headers,
            body=body,
            tag=_tag(body),
            now=self._clock.now(),
        )


def _config(source: Source) -> ExaConfig:
    if not isinstance(source.config, ExaConfig):
        raise Refused(OutcomeCode.NOT_CONFIGURED)
    return source.config


def _contents(characters: int, freshness: FreshnessWish) -> dict[str, object]:
    """Text and nothing else: every other kind of content is generated, or billed, or both."""
    text: dict[str, object] = {"text": {"maxCharacters": characters}}
    return text if freshness is FreshnessWish.NORMAL else {**text, "maxAgeHours": 0}


def _serialised(body: dict[str, object]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _tag(body: JsonObject | None) -> str | None:
    """The service's word for a refusal. Older answers have none, and an offer to pay is known by its version too."""
    if body is None:
        return None
    tag = body.get("tag")
    if not isinstance(tag, str):
        return _NO_KEY_ARRIVED if "x402Version" in body else None
    return tag
