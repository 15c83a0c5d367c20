"""The agent lane's vocabularies."""

from __future__ import annotations

import asyncio

from shared.adapters.card_items import COLLECTIONS, collection_of
from shared.adapters.row_reads import RowReads
from shared.adapters.unreadable import readable
from shared.adapters.vocabulary_copies import VocabularyCopies
from shared.domain.cards import CollectionStatus, collection_exposure
from shared.domain.deadlines import Deadline
from shared.domain.matching import Occurrence

_collection = readable(collection_of)


class DynamoVocabularies:
    """Implements `ports.vocabularies.Vocabularies`."""

    def __init__(self, reads: RowReads, *, table: str, copies: VocabularyCopies) -> None:
        self._reads = reads
        self._table = table
        self._copies = copies

    async def occurring(
        self, collection_id: str, text: str, *, turn: asyncio.Future[Deadline]
    ) -> tuple[Occurrence, ...] | None:
        if collection_exposure(collection_id) is None:
            return None
        item = await self._reads.row(self._table, COLLECTIONS, collection_id)
        collection = _collection(item) if item else None
        if collection is None or collection.status is not CollectionStatus.ACTIVE:
            return None
        return await self._copies.occurring(collection, text, turn=turn)
