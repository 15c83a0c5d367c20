"""What a customer's answers say, as text. Of sources nothing is told: not which, not how many, not whether one failed.

Each function shows its wire model and nothing beside it.
"""

from __future__ import annotations

from typing import Final

from shared.web.customer_answers import CustomerAnswerOut, CustomerCardOut, CustomerResultOut
from shared.web.customer_card_answers import CustomerLookupOut, CustomerMatchOut
from shared.web.mcp.card_texts import card_texts, looked_up, matched
from shared.web.mcp.mirror import UNTRUSTED, Mirror, counted, locale_words
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
    return Mirror(head=" ".join(head), blocks=(*passages, *card_texts(cards, fences, heading=_heading)))


def lookup_mirror(out: CustomerLookupOut) -> Mirror:
    return looked_up(out.results, dropped=out.dropped, heading=_heading)


def match_mirror(out: CustomerMatchOut) -> Mirror:
    return matched(out.cards, dropped=out.dropped, heading=_heading)


def _passage(result: CustomerResultOut, number: int, fences: Fences) -> str:
    facts = [
        *([f"url: {named(result.url, at_most=len(result.url))}"] if result.url else []),
        *locale_words(result.locale, is_fallback=result.locale_fallback),
    ]
    lines = [f"[{number}] {named(result.title)}", *([" · ".join(facts)] if facts else [])]
    return "\n".join([*lines, fences.put(result.snippet, name=f"passage {number}")])


def _heading(card: CustomerCardOut) -> str:
    return f"card: {named(card.title)}"
