"""One page of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """`next_after` is the sort key of the last item returned, or None when there is nothing behind it."""

    items: tuple[Item, ...]
    next_after: str | None = None
