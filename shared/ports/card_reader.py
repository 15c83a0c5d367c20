"""Reading cards for the agent lane: every collection."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from shared.domain.cards import Card


class CardReader(Protocol):
    """Both methods are one batched round trip to the store, strongly consistent, whose cost does not depend on how
    many keys a collection has. Nothing is asked of the store where nothing is asked here. Raise `Unavailable`.
    """

    async def ids_by_key(self, collection_id: str, norm_keys: Collection[str]) -> Mapping[str, tuple[str, ...]] | None:
        """The ids of the cards under each of these normalised keys, ascending; keys without cards are absent.
        None when there is no such collection, or it is being deleted.
        """
        ...

    async def cards(self, collection_id: str, card_ids: Collection[str]) -> Mapping[str, Card]:
        """By id; those that are gone are absent."""
        ...
