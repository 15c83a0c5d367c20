"""What a customer sees of an answer: five fields a result, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shared.domain.locales import is_fallback
from shared.domain.ordering import Found


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerResult:
    """All that leaves the gateway on a customer path. A field added here is published to anonymous visitors."""

    title: str
    snippet: str
    url: str | None
    locale: str | None
    locale_fallback: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerAnswer:
    """Says nothing about sources: not which, not how many, not whether one failed."""

    results: tuple[CustomerResult, ...] = ()


def customer_answer(found: Iterable[Found], *, locale: str | None) -> CustomerAnswer:
    """`locale` is the one that was asked for."""
    return CustomerAnswer(results=tuple(_projected(f, locale) for f in found))


def _projected(found: Found, locale: str | None) -> CustomerResult:
    passage = found.passage
    return CustomerResult(
        title=passage.title,
        snippet=passage.snippet,
        url=passage.url,
        locale=passage.locale,
        locale_fallback=is_fallback(locale, passage.locale),
    )
