"""Reading cards for the customer lane. Nothing here can read an agent_only collection."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from shared.domain.cards import CustomerCard


class CustomerCardReader(Protocol):
    """Both methods are one batched round trip to the store, strongly consistent, whose cost does not depend on how
    many keys a collection has. No method takes an exposure profile; a collection or a card that does not itself say
    customer_safe does not exist here. Raise `Unavailable`.
    """

    async def ids_by_key(self, collection_id: str, norm_keys: Collection[str]) -> Mapping[str, tuple[str, ...]] | None:
        """The ids of the cards under each of these normalised keys, ascending; keys without cards are absent.
        None when there is no such collection, it is being deleted, or it is not for customers.
        """
        ...

    async def cards(self, collection_id: str, card_ids: Collection[str]) -> Mapping[str, CustomerCard]:
        """By id; those that are gone are absent."""
        ...
