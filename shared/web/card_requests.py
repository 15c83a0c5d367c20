"""Look-ups and matches, as they arrive. Both lanes may ask the same."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from shared.domain.lookups import MAX_TERM_CHARACTERS, MAX_TERMS
from shared.domain.matching import DEFAULT_CAP, MAX_CAP, MAX_TEXT_CHARACTERS, MatchWish
from shared.errors import Problem
from shared.web.events import Event
from shared.web.wire import WireModel, read_body


class LookupBody(WireModel):
    """Words and names to look up exactly; upper and lower case, width and white space do not count."""

    terms: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=MAX_TERM_CHARACTERS)], ...],
        Field(max_length=MAX_TERMS, examples=[["ferry pass", "渡轮卡"]]),
    ]


class MatchBody(WireModel):
    """A text whose cards are wanted, and how many at most."""

    text: Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)]
    cap: Annotated[int, Field(ge=1, le=MAX_CAP)] = DEFAULT_CAP

    def to_wish(self) -> MatchWish:
        return MatchWish(text=self.text, cap=self.cap)


def read_lookup(event: Event) -> tuple[str, ...] | Problem:
    """Never raises a Problem: nobody is told what is wrong before being admitted."""
    try:
        return read_body(LookupBody, event).terms
    except Problem as problem:
        return problem


def read_match(event: Event) -> MatchWish | Problem:
    """Never raises a Problem: nobody is told what is wrong before being admitted."""
    try:
        return read_body(MatchBody, event).to_wish()
    except Problem as problem:
        return problem
