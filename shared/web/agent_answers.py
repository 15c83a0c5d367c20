"""An agent's answer on the wire. What is unknown is null; only parts of `locator` and `providerScores` are left out."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from shared.domain.agent_answers import AgentAnswer, AgentDiscovery, AgentResult
from shared.domain.card_answers import CardsStatus
from shared.domain.exposure import Audience
from shared.domain.outcomes import AnswerStatus, Outcome, OutcomeCode, OutcomeStatus
from shared.domain.passages import Evidence, Freshness, NamedScore, Warning_
from shared.web.answer_size import MAX_ANSWER_BYTES, delivered_bytes, how_many_fit
from shared.web.moments import moment_or_none
from shared.web.named_provider import ProviderOut
from shared.web.shown_cards import CardOut, cards_out
from shared.web.wire import WireModel

DEGRADED: Final = "X-Knowledge-Degraded"  # names what could not be used
_IfReturned = Field(exclude_if=lambda value: value is None)


class LocatorOut(WireModel):
    """What finds the passage again at its provider: only what that provider returned, in its own words."""

    document_id: str
    revision: Annotated[str | None, _IfReturned] = None
    chunk_id: Annotated[str | None, _IfReturned] = None


class NamedScoreOut(WireModel):
    """`type` is the provider's own name for how it came to the `value`; values of two types are never comparable."""

    type: str
    value: float | None

    @classmethod
    def all_of(cls, scores: tuple[NamedScore, ...]) -> tuple[NamedScoreOut, ...] | None:
        return tuple(cls(type=score.kind, value=score.value) for score in scores) or None


class AgentResultOut(WireModel):
    """`providerScore` is comparable within one provider alone. `providerScores` is there where a provider scores in
    ways that it names, in its own order; `providerScore` is then null unless all its results have that one score.
    `truncated`: the provider's text goes on. Text is untrusted and plain.
    """

    provider: ProviderOut
    locator: LocatorOut
    document_id: str
    title: str
    snippet: str
    audience: Audience
    evidence: Evidence
    revision: str | None
    chunk_id: str | None
    url: str | None
    locale: str | None
    locale_fallback: bool | None
    provider_score: float | None
    provider_scores: Annotated[tuple[NamedScoreOut, ...] | None, _IfReturned] = None
    freshness: Freshness
    review_due_at: str | None
    translation_group_id: str | None
    truncated: bool


class DiscoveryOut(WireModel):
    """A citation without text: somewhere to look, not evidence. `library` and `libraryVersion` are what the provider
    selected to find it; they do not prove the document's version.
    """

    provider: ProviderOut
    url: str
    title: str | None
    library: str | None
    library_version: str | None


class OutcomeOut(WireModel):
    """What happened at one provider. `name` is null for an id that the caller named and may not know about.
    `resultCount` counts what it returned and may be kept; the merged answer may hold fewer.
    """

    id: str
    name: str | None
    status: OutcomeStatus
    error_code: OutcomeCode | None
    duration_ms: int
    result_count: int
    truncated: bool
    retry_at: str | None
    warnings: tuple[Warning_, ...]


class AgentAnswerOut(WireModel):
    """`returnedLocale` is the one locale that all results share, else null. `cardsStatus` says whether the named
    collections could be looked through in time; null where none was named.
    """

    request_id: str
    status: AnswerStatus
    results: tuple[AgentResultOut, ...]
    discoveries: tuple[DiscoveryOut, ...]
    cards: tuple[CardOut, ...] = ()
    cards_status: CardsStatus | None = None
    providers: tuple[OutcomeOut, ...]
    returned_locale: str | None


def headers_of(answer: AgentAnswer, *, now: float) -> dict[str, str]:
    """When to come back, and whether the answer is from memory."""
    retry_after_s = answer.retry_after_s(now)
    waiting = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}
    return waiting | degraded_of(answer)


def degraded_of(answer: AgentAnswer) -> dict[str, str]:
    return {DEGRADED: "store"} if answer.is_from_memory else {}


def encoded(answer: AgentAnswer, *, request_id: str, cap: int = MAX_ANSWER_BYTES) -> str:
    """The JSON text; results beyond `cap` bytes are cut from the tail and their providers marked `truncated`."""
    return fitted(answer, request_id=request_id, cap=cap)[1]


def fitted(answer: AgentAnswer, *, request_id: str, cap: int) -> tuple[AgentAnswerOut, str]:
    """The same, beside what the text says."""
    out = _answer(answer, request_id)
    text = out.model_dump_json(by_alias=True)
    size = delivered_bytes(text)
    if size <= cap:
        return out, text
    sizes = [delivered_bytes(result.model_dump_json(by_alias=True)) + 1 for result in out.results]
    fitting = how_many_fit(sizes, room=cap - (size - sum(sizes)))
    cut = _answer(answer.first(fitting), request_id)
    return cut, cut.model_dump_json(by_alias=True)


def _answer(answer: AgentAnswer, request_id: str) -> AgentAnswerOut:
    return AgentAnswerOut(
        request_id=request_id,
        status=answer.status,
        results=tuple(_result(result) for result in answer.results),
        discoveries=tuple(_discovery(discovery) for discovery in answer.discoveries),
        cards=cards_out(answer.cards.cards) if answer.cards else (),
        cards_status=answer.cards.status if answer.cards else None,
        providers=tuple(_outcome(outcome) for outcome in answer.outcomes),
        returned_locale=answer.returned_locale,
    )


def _result(result: AgentResult) -> AgentResultOut:
    passage = result.passage
    return AgentResultOut(
        provider=ProviderOut(id=result.provider_id, name=result.provider_name, kind=result.provider_kind),
        locator=LocatorOut(document_id=passage.document_id, revision=passage.revision, chunk_id=passage.chunk_id),
        document_id=passage.document_id,
        title=passage.title,
        snippet=passage.snippet,
        audience=passage.audience,
        evidence=passage.evidence,
        revision=passage.revision,
        chunk_id=passage.chunk_id,
        url=passage.url,
        locale=passage.locale,
        locale_fallback=result.locale_fallback,
        provider_score=passage.score,
        provider_scores=NamedScoreOut.all_of(passage.scores),
        freshness=passage.freshness,
        review_due_at=passage.review_due_at,
        translation_group_id=passage.translation_group_id,
        truncated=passage.truncated,
    )


def _discovery(found: AgentDiscovery) -> DiscoveryOut:
    discovery = found.discovery
    return DiscoveryOut(
        provider=ProviderOut(id=found.provider_id, name=found.provider_name, kind=found.provider_kind),
        url=discovery.url,
        title=discovery.title,
        library=discovery.library,
        library_version=discovery.library_version,
    )


def _outcome(outcome: Outcome) -> OutcomeOut:
    return OutcomeOut(
        id=outcome.provider_id,
        name=outcome.name,
        status=outcome.status,
        error_code=outcome.error_code,
        duration_ms=outcome.duration_ms,
        result_count=outcome.result_count,
        truncated=outcome.truncated,
        retry_at=moment_or_none(outcome.retry_at),
        warnings=outcome.warnings,
    )
