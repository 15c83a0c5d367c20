"""What an agent sees of an answer: passages with their provenance, and what happened at each provider."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from shared.domain.card_answers import FoundCards
from shared.domain.cards import Card
from shared.domain.locales import common_locale, is_fallback
from shared.domain.merging import merged
from shared.domain.ordering import Cited, Found, ordered_discoveries
from shared.domain.outcomes import AnswerStatus, Outcome, status_of_answer
from shared.domain.passages import Discovery, Passage
from shared.domain.registrations import ProviderKind, Source
from shared.domain.replies import Reply

MAX_DISCOVERIES: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResult:
    provider_id: str
    provider_name: str
    provider_kind: ProviderKind
    passage: Passage
    locale_fallback: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDiscovery:
    provider_id: str
    provider_name: str
    provider_kind: ProviderKind
    discovery: Discovery


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAnswer:
    """`retry_at` (Unix seconds) is set when every asked provider said when to come back: the earliest of them. `cards`
    is None where no collection was named. `is_from_memory`: the store could not be used, and what the caller may reach
    is as it was a moment ago.
    """

    status: AnswerStatus
    results: tuple[AgentResult, ...] = ()
    discoveries: tuple[AgentDiscovery, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    returned_locale: str | None = None
    retry_at: float | None = None
    cards: FoundCards[Card] | None = None
    is_from_memory: bool = False

    def retry_after_s(self, now: float) -> int | None:
        """Whole seconds, rounded up, at least 1."""
        return None if self.retry_at is None else max(1, math.ceil(self.retry_at - now))

    def first(self, count: int) -> AgentAnswer:
        """The same answer without the results behind the first `count`; their providers are marked `truncated`."""
        kept, dropped = self.results[:count], self.results[count:]
        return replace(
            self,
            results=kept,
            outcomes=_marked(self.outcomes, {r.provider_id for r in dropped}),
            returned_locale=_returned_locale(kept),
        )


def agent_answer(
    replies: Sequence[Reply], refused: Sequence[Outcome], *, limit: int, locale: str | None
) -> AgentAnswer:
    """`replies` are those of the eligible providers, already sifted; `refused` concerns named ids that were not asked
    and does not count for the status. `locale` is the one that was asked for.
    """
    found = merged(replies, limit=limit)
    results = tuple(_projected(f, locale) for f in found)
    asked = tuple(reply.outcome for reply in replies)
    cut = {f.source.id for f in found if f.passage.truncated}
    return AgentAnswer(
        status=status_of_answer(asked),
        results=results,
        discoveries=tuple(_cited(each) for each in ordered_discoveries(replies)[:MAX_DISCOVERIES]),
        outcomes=(*_marked(asked, cut), *refused),
        returned_locale=_returned_locale(results),
        retry_at=_common_retry(asked),
    )


def _projected(found: Found, locale: str | None) -> AgentResult:
    source: Source = found.source
    return AgentResult(
        provider_id=source.id,
        provider_name=source.name,
        provider_kind=source.kind,
        passage=found.passage,
        locale_fallback=is_fallback(locale, found.passage.locale),
    )


def _cited(cited: Cited) -> AgentDiscovery:
    source = cited.source
    return AgentDiscovery(
        provider_id=source.id, provider_name=source.name, provider_kind=source.kind, discovery=cited.discovery
    )


def _marked(outcomes: Sequence[Outcome], cut: set[str]) -> tuple[Outcome, ...]:
    return tuple(replace(o, truncated=True) if o.provider_id in cut else o for o in outcomes)


def _returned_locale(results: Sequence[AgentResult]) -> str | None:
    return common_locale(r.passage.locale for r in results)


def _common_retry(outcomes: Sequence[Outcome]) -> float | None:
    times = [o.retry_at for o in outcomes if o.retry_at is not None]
    return min(times) if times and len(times) == len(outcomes) else None
