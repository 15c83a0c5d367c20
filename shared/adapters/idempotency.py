"""Finding what an earlier request with the same idempotency key did."""

from __future__ import annotations

from shared.adapters.failures import store_unavailable
from shared.adapters.idempotency_items import IDEMPOTENCY, record_of
from shared.adapters.keys import ONLY
from shared.adapters.rows import row
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.adapters.unreadable import readable
from shared.domain.changes import IdempotencyRecord
from shared.ports.clock import Clock

_record = readable(record_of)


class DynamoIdempotency:
    """Implements `ports.idempotency.Idempotency`."""

    def __init__(self, client: DynamoDBClient, *, table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    async def find(self, key: str) -> IdempotencyRecord | None:
        """A record that cannot be read is `Unavailable`: taking it for absent could carry a request out twice."""
        item = await in_thread(row, self._client, self._table, IDEMPOTENCY + key, ONLY)
        if item is None:
            return None
        record = _record(item)
        if record is None:
            raise store_unavailable()
        return record if record.expires_at > self._clock.now() else None
