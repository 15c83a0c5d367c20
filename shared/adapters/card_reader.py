"""The agent lane's cards."""

from __future__ import annotations

from collections.abc import Collection as Several
from collections.abc import Mapping

from shared.adapters.card_items import card_of, collection_of
from shared.adapters.card_rows import card_items, collection_and_keys
from shared.adapters.services import DynamoDBClient
from shared.adapters.unreadable import readable
from shared.domain.cards import Card, CollectionStatus, collection_exposure

_collection = readable(collection_of)
_card = readable(card_of)


class DynamoCardReader:
    """Implements `ports.card_reader.CardReader`."""

    def __init__(self, client: DynamoDBClient, *, table: str) -> None:
        self._client = client
        self._table = table

    async def ids_by_key(self, collection_id: str, norm_keys: Several[str]) -> Mapping[str, tuple[str, ...]] | None:
        if collection_exposure(collection_id) is None:
            return None
        item, ids = await collection_and_keys(self._client, self._table, collection_id, norm_keys)
        collection = _collection(item) if item else None
        return ids if collection and collection.status is CollectionStatus.ACTIVE else None

    async def cards(self, collection_id: str, card_ids: Several[str]) -> Mapping[str, Card]:
        items = await card_items(self._client, self._table, collection_id, card_ids)
        return {card.id: card for item in items if (card := _card(item)) is not None}
