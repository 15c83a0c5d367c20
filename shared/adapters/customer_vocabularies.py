"""The customer lane's vocabularies."""

from __future__ import annotations

import asyncio

from shared.adapters.card_items import COLLECTIONS
from shared.adapters.customer_cards import customer_collection, is_for_customers
from shared.adapters.row_reads import RowReads
from shared.adapters.vocabulary_copies import VocabularyCopies
from shared.domain.deadlines import Deadline
from shared.domain.matching import Occurrence


class DynamoCustomerVocabularies:
    """Implements `ports.customer_vocabularies.CustomerVocabularies`."""

    def __init__(self, reads: RowReads, *, table: str, copies: VocabularyCopies) -> None:
        self._reads = reads
        self._table = table
        self._copies = copies

    async def occurring(
        self, collection_id: str, text: str, *, turn: asyncio.Future[Deadline]
    ) -> tuple[Occurrence, ...] | None:
        if not is_for_customers(collection_id):
            return None
        collection = customer_collection(await self._reads.row(self._table, COLLECTIONS, collection_id))
        return await self._copies.occurring(collection, text, turn=turn) if collection else None
