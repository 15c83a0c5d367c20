"""The customer lane's vocabularies."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from shared.adapters.card_items import COLLECTIONS
from shared.adapters.customer_cards import customer_collection, is_for_customers
from shared.adapters.rows import row
from shared.adapters.threads import in_thread
from shared.adapters.vocabulary_copies import VocabularyCopies
from shared.domain.deadlines import Deadline
from shared.domain.matching import Occurrence

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoCustomerVocabularies:
    """Implements `ports.customer_vocabularies.CustomerVocabularies`."""

    def __init__(self, client: DynamoDBClient, *, table: str, copies: VocabularyCopies) -> None:
        self._client = client
        self._table = table
        self._copies = copies

    async def occurring(
        self, collection_id: str, text: str, *, turn: asyncio.Future[Deadline]
    ) -> tuple[Occurrence, ...] | None:
        if not is_for_customers(collection_id):
            return None
        collection = customer_collection(await in_thread(row, self._client, self._table, COLLECTIONS, collection_id))
        return await self._copies.occurring(collection, text, turn=turn) if collection else None
