"""How much text one answer may carry, and how it is shared out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shared.domain.ordering import Found
from shared.domain.plain_text import cut

SNIPPET_BUDGET_CHARACTERS = 48_000
FIRST_SHARE_CHARACTERS = 1_000


def shares(lengths: Sequence[int], *, budget: int = SNIPPET_BUDGET_CHARACTERS) -> list[int]:
    """How many characters each text may keep, in answer order.

    First up to 1,000 to each, then the rest in answer order. Where even 1,000 to each is too much, all get an equal
    part of the budget first, so that no text is left empty for its place at the end.
    """
    granted = [0] * len(lengths)
    if not lengths:
        return granted
    equal_part = min(FIRST_SHARE_CHARACTERS, budget // len(lengths))
    left = budget
    for step in (equal_part, FIRST_SHARE_CHARACTERS, budget):
        for place, length in enumerate(lengths):
            more = min(min(length, step) - granted[place], left)
            granted[place] += more
            left -= more
    return granted


def within_budget(found: Sequence[Found]) -> tuple[Found, ...]:
    """The same passages with snippets cut to their shares; a cut one is marked `truncated`."""
    granted = shares([len(f.passage.snippet) for f in found])
    return tuple(_cut(f, characters) for f, characters in zip(found, granted, strict=True))


def _cut(found: Found, characters: int) -> Found:
    passage = found.passage
    if len(passage.snippet) <= characters:
        return found
    return replace(found, passage=replace(passage, snippet=cut(passage.snippet, limit=characters), truncated=True))
