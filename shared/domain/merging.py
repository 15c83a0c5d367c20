"""From the replies of all sources to the passages of one answer."""

from __future__ import annotations

from collections.abc import Iterable

from shared.domain.budget import within_budget
from shared.domain.ordering import Found, ordered
from shared.domain.replies import Reply


def merged(replies: Iterable[Reply], *, limit: int) -> tuple[Found, ...]:
    """Ordered, cut at `limit`, then given their shares of the snippet budget."""
    return within_budget(ordered(replies)[:limit])
