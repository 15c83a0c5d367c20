"""Pages that end earlier where they would be larger than an answer may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from shared.domain.pages import Page
from shared.web.answer_size import MAX_ANSWER_BYTES, delivered_bytes, how_many_fit

Item = TypeVar("Item")


def fitting(page: Page[Item], text_of: Callable[[Item], str], *, sort_key: Callable[[Item], str]) -> Page[Item]:
    """The page, or the first items of it whose texts together are at most 4 MiB; always one where there is one."""
    count = how_many_fit([delivered_bytes(text_of(item)) for item in page.items], room=MAX_ANSWER_BYTES)
    if count >= len(page.items):
        return page
    shown = page.items[: max(count, 1)]
    return Page(shown, next_after=sort_key(shown[-1]))
