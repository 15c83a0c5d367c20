"""What a customer's answers say, as text. Of sources nothing is told: not which, not how many, not whether one failed.

Each function shows its wire model and nothing beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from shared.web.customer_answers import CustomerAnswerOut, CustomerCardOut, CustomerResultOut
from shared.web.customer_card_answers import CustomerLookupOut, CustomerMatchOut
from shared.web.mcp.mirror import UNTRUSTED, Mirror, counted
from shared.web.mcp.quoting import Fences, named

# True whether nothing is there or nothing could be searched: which of both it is, customers are not told.
_NO_PASSAGE: Final = (
    "No passage came back, which need not mean that there is none. Other words, the words of another language, or "
    "another time may bring one."
)


def search_mirror(out: CustomerAnswerOut) -> Mirror:
    cards = out.cards or ()
    fences = Fences.around([*(result.snippet for result in out.results), *(card.body for card in cards)])
    found = counted(len(out.results), "passage") + " found."
    if not out.results:
        found = _NO_PASSAGE
    head = [found, *([counted(len(cards), "glossary card") + " beside."] if cards else [])]
    if out.results or cards:
        head.append(UNTRUSTED)
    passages = [_passage(result, number, fences) for number, result in enumerate(out.results, start=1)]
    return Mirror(head=" ".join(head), blocks=(*passages, *_cards(cards, fences)))


def lookup_mirror(out: CustomerLookupOut) -> Mirror:
    every = [card for cards in out.results.values() for card in cards]
    fences = Fences.around([card.body for card in every])
    blocks = by_term({term: _cards(cards, fences) for term, cards in out.results.items()})
    return Mirror(head=cards_head(len(every), "under these terms", dropped=out.dropped), blocks=blocks)


def match_mirror(out: CustomerMatchOut) -> Mirror:
    fences = Fences.around([card.body for card in out.cards])
    head = cards_head(len(out.cards), "mentioned in the text", dropped=out.dropped)
    return Mirror(head=head, blocks=_cards(out.cards, fences))


def by_term(cards: Mapping[str, Sequence[str]]) -> list[str]:
    """Every term with its cards, each shown already."""
    return ["\n\n".join([f"{named(term)}: {counted(len(shown), 'card')}", *shown]) for term, shown in cards.items()]


def cards_head(found: int, where: str, *, dropped: int) -> str:
    if not found and not dropped:
        return f"No glossary card is {where}."
    left_out = f" {counted(dropped, 'more card')} left out." if dropped else ""
    return f"Glossary cards {where}: {found}.{left_out} {UNTRUSTED}"


def locale_words(locale: str | None, *, is_fallback: bool | None) -> list[str]:
    """The language of a passage, and whether it is the one that was asked for."""
    if locale is None:
        return []
    return [f"locale: {named(locale)}" + (" (not the one asked for)" if is_fallback else "")]


def keys_line(keys: Iterable[str]) -> str:
    return "keys: " + ", ".join(named(key) for key in keys)


def _passage(result: CustomerResultOut, number: int, fences: Fences) -> str:
    facts = [
        *([f"url: {named(result.url, at_most=len(result.url))}"] if result.url else []),
        *locale_words(result.locale, is_fallback=result.locale_fallback),
    ]
    lines = [f"[{number}] {named(result.title)}", *([" · ".join(facts)] if facts else [])]
    return "\n".join([*lines, fences.put(result.snippet, name=f"passage {number}")])


def _cards(cards: Sequence[CustomerCardOut], fences: Fences) -> list[str]:
    return [
        "\n".join([f"card: {named(card.title)}", keys_line(card.keys), fences.put(card.body, name="the card")])
        for card in cards
    ]
