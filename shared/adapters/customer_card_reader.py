"""The customer lane's cards."""

from __future__ import annotations

from collections.abc import Collection as Several
from collections.abc import Mapping

from shared.adapters.card_rows import card_items, collection_and_keys
from shared.adapters.customer_cards import customer_card, customer_collection, is_for_customers
from shared.adapters.services import DynamoDBClient
from shared.domain.cards import CustomerCard


class DynamoCustomerCardReader:
    """Implements `ports.customer_card_reader.CustomerCardReader`."""

    def __init__(self, client: DynamoDBClient, *, table: str) -> None:
        self._client = client
        self._table = table

    async def ids_by_key(self, collection_id: str, norm_keys: Several[str]) -> Mapping[str, tuple[str, ...]] | None:
        if not is_for_customers(collection_id):
            return None
        item, ids = await collection_and_keys(self._client, self._table, collection_id, norm_keys)
        return ids if customer_collection(item) else None

    async def cards(self, collection_id: str, card_ids: Several[str]) -> Mapping[str, CustomerCard]:
        if not is_for_customers(collection_id):
            return {}
        items = await card_items(self._client, self._table, collection_id, card_ids)
        return {one.card.id: one for item in items if (one := customer_card(item)) is not None}
