"""The customer's answer on the wire: results of exactly five fields, and nothing else."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from shared.domain.customer_answers import CustomerAnswer, CustomerResult
from shared.web.answer_size import MAX_ANSWER_BYTES, delivered_bytes, how_many_fit
from shared.web.wire import WireModel


class CustomerResultOut(WireModel):
    """`localeFallback` is null when the asked or the returned locale is unknown. Text is untrusted and plain."""

    title: str
    snippet: str
    url: str | None
    locale: str | None
    locale_fallback: bool | None


class CustomerCardOut(WireModel):
    """All that leaves the gateway of a card on a customer path. `body` is Markdown."""

    title: str
    body: str
    keys: tuple[str, ...]


Cards = tuple[CustomerCardOut, ...]


class CustomerAnswerOut(WireModel):
    """`cards` is there only when the request named collections."""

    results: tuple[CustomerResultOut, ...]
    cards: Annotated[Cards | None, Field(exclude_if=lambda cards: cards is None)] = None


def encoded(answer: CustomerAnswer, *, cards: Cards | None = None, cap: int = MAX_ANSWER_BYTES) -> str:
    """The JSON text; results beyond `cap` bytes are cut from the tail. `cards` None: none were asked for."""
    return fitted(answer, cards=cards, cap=cap)[1]


def fitted(answer: CustomerAnswer, *, cards: Cards | None, cap: int) -> tuple[CustomerAnswerOut, str]:
    """The same, beside what the text says."""
    results = tuple(_result(result) for result in answer.results)
    out = CustomerAnswerOut(results=results, cards=cards)
    text = out.model_dump_json(by_alias=True)
    size = delivered_bytes(text)
    if size <= cap:
        return out, text
    sizes = [delivered_bytes(result.model_dump_json(by_alias=True)) + 1 for result in results]
    fitting = how_many_fit(sizes, room=cap - (size - sum(sizes)))
    cut = CustomerAnswerOut(results=results[:fitting], cards=cards)
    return cut, cut.model_dump_json(by_alias=True)


def _result(result: CustomerResult) -> CustomerResultOut:
    return CustomerResultOut(
        title=result.title,
        snippet=result.snippet,
        url=result.url,
        locale=result.locale,
        locale_fallback=result.locale_fallback,
    )
