"""Context7: finds a library, then the pages of its documentation that answer a question. It yields no source text:
what it sends along is assembled or generated, so only the addresses of its sources are kept, as discoveries.

GET {base_url}/v2/libs/search?libraryName&query           one operation; not made when the library is configured
GET {base_url}/v2/context?libraryId&query&type=json       another; once more when the library has moved
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final
from urllib.parse import quote, urlencode

from shared.domain.answer_bodies import JsonObject, typed_object_in
from shared.domain.forced import check_not_forced
from shared.domain.live_configs import Context7Config
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import FreshnessWish, Question, Retrieval, Warning_
from shared.domain.refusals import Meaning, refusal
from shared.domain.registrations import Source
from shared.errors import Refused
from shared.ports.clock import Clock
from shared.ports.exchange import OutboundAnswer, OutboundRequest
from shared.ports.meter import Attempt, Meter
from shared.ports.retriever import RetrieverLimits
from shared.providers.context7_answers import (
    Library,
    Moved,
    Selection,
    Snippets,
    choose,
    discovered,
    read_libraries,
    read_moved,
    read_snippets,
)

LIMITS: Final = RetrieverLimits(query_characters=500, results=50, timeout_s=25.0)
REFUSALS: Final = (
    Meaning(status=202),  # a success by its number: the library is still being read in
    Meaning(status=301),
    Meaning(status=401, code=OutcomeCode.UNAUTHORIZED),
    Meaning(status=402, key="quota"),
    Meaning(status=402, tag="spending_limit_exceeded", key="quota", scope="account"),
    Meaning(status=403, code=OutcomeCode.FORBIDDEN),
    Meaning(status=404, code=OutcomeCode.NOT_FOUND),
    Meaning(status=408, code=OutcomeCode.TIMEOUT, unclear=True),
    Meaning(status=422, code=OutcomeCode.NOT_FOUND),  # a library that is too large, or without documentation
    Meaning(status=429, code=OutcomeCode.RATE_LIMITED, key="rate", scope="account"),
    Meaning(status=504, code=OutcomeCode.TIMEOUT, unclear=True),
)
_REPOSITORY = re.compile(r"[A-Za-z0-9._-]+/([A-Za-z0-9._-]+)", re.ASCII)


class Context7Retriever:
    """Implements `ports.live_retriever.LiveRetriever`. `allow_test_names` lets discoveries name hosts under `.test`:
    for the embedded default alone.
    """

    def __init__(self, *, clock: Clock, allow_test_names: bool) -> None:
        self._clock = clock
        self._allow_test_names = allow_test_names

    @property
    def limits(self) -> RetrieverLimits:
        return LIMITS

    async def retrieve(self, source: Source, question: Question, *, meter: Meter) -> Retrieval:
        config = source.config
        if not isinstance(config, Context7Config):
            raise Refused(OutcomeCode.NOT_CONFIGURED)
        check_not_forced(question)
        if len(question.query) > LIMITS.query_characters:
            raise Refused(OutcomeCode.QUERY_TOO_LONG)
        selection = await self._selection(source, question, config, meter)
        # It has no way to be asked for a new fetch.
        warnings = () if question.freshness is FreshnessWish.NORMAL else (Warning_.NOT_FRESH,)
        if selection is None:
            return Retrieval(warnings=warnings)
        snippets, selection = await self._snippets(source, question, selection, meter)
        return discovered(
            snippets,
            selection,
            limit=min(question.limit, LIMITS.results),
            policy=config,
            allow_test_names=self._allow_test_names,
            warnings=warnings,
        )

    async def _selection(
        self, source: Source, question: Question, config: Context7Config, meter: Meter
    ) -> Selection | None:
        """None when the service knows no library that fits and is ready."""
        if config.library is not None:
            return Selection.of(config.library, wanted=question.version)
        name = _library_name(question)
        libraries = await meter.perform(partial(self._libraries, source, name, question.query))
        return choose(libraries, product=question.product, repository=question.repository, version=question.version)

    async def _snippets(
        self, source: Source, question: Question, selection: Selection, meter: Meter
    ) -> tuple[Snippets, Selection]:
        """What the service cites, and the library that it really came from. A second move is a loop or might be."""
        found = await meter.perform(partial(self._context, source, selection.id, question.query))
        if isinstance(found, Moved):
            if found.to == selection.id:
                raise Refused(OutcomeCode.NOT_FOUND)
            selection = Selection.of(found.to, wanted=question.version)
            found = await meter.perform(partial(self._context, source, selection.id, question.query))
        if isinstance(found, Moved):
            raise Refused(OutcomeCode.NOT_FOUND)
        return found, selection

    async def _libraries(self, source: Source, name: str, query: str, attempt: Attempt) -> tuple[Library, ...]:
        url = _url(source, "/v2/libs/search", libraryName=name, query=query)
        answer = await _send(attempt, url)
        if answer.status == 404 and self._refused_by_service(answer):
            return ()
        return read_libraries(self._body(answer))

    async def _context(self, source: Source, library_id: str, query: str, attempt: Attempt) -> Snippets | Moved:
        url = _url(source, "/v2/context", libraryId=library_id, query=query, type="json")
        answer = await _send(attempt, url)
        if answer.status == 404 and self._refused_by_service(answer):
            return Snippets()
        if answer.status == 301 and (body := self._refused_by_service(answer)):
            return read_moved(body)
        if answer.status == 200 and not answer.body.strip():
            return Snippets()  # how a library without documentation looks in text form
        return read_snippets(self._body(answer))

    def _refused_by_service(self, answer: OutboundAnswer) -> JsonObject | None:
        """The body of a refusal that the service itself wrote, not a machine on the way."""
        body = typed_object_in(answer.headers, answer.body)
        return body if body is not None and isinstance(body.get("error"), str) else None

    def _body(self, answer: OutboundAnswer) -> JsonObject:
        """The object that a success carries. Raises the refusal that any other answer means."""
        body = typed_object_in(answer.headers, answer.body)
        if answer.status == 200 and body is not None:
            return body
        if answer.status == 200:
            raise Refused(OutcomeCode.INVALID_RESPONSE)
        tag = body.get("error") if body is not None else None
        raise refusal(
            REFUSALS,
            status=answer.status,
            headers=answer.headers,
            body=body,
            tag=tag if isinstance(tag, str) else None,
            now=self._clock.now(),
        )


def _library_name(question: Question) -> str:
    """What to look for. Raises `Refused` (`missing_input`)."""
    product = (question.product or "").strip()
    repository = _REPOSITORY.fullmatch(question.repository or "")
    if product:
        return product
    if repository is None:
        raise Refused(OutcomeCode.MISSING_INPUT)
    return repository[1]


def _url(source: Source, path: str, **parameters: str) -> str:
    return f"{source.base_url}{path}?{urlencode(parameters, quote_via=quote, safe='')}"


async def _send(attempt: Attempt, url: str) -> OutboundAnswer:
    if not attempt.key:
        raise Refused(OutcomeCode.NOT_CONFIGURED)
    headers = (
        ("Authorization", f"Bearer {attempt.key}"),
        ("Accept", "application/json"),
        ("User-Agent", "knowledge-gateway/1"),
    )
    return await attempt.exchange.send(partial(OutboundRequest, method="GET", url=url, headers=headers))
