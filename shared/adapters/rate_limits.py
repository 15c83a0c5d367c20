"""Counters of requests, one row for each subject and minute."""

from __future__ import annotations

from typing import Final

from shared.adapters.attributes import number, whole_of
from shared.adapters.failures import of_store
from shared.adapters.keys import EXPIRES_AT, key_of
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.ports.clock import Clock

RATE: Final = "RATE#"
_KEPT_FOR_S = 3_600
_count_one_and_end_later = "ADD #requests :one SET #expires_at = :expires_at"
_NAMES = {"#requests": "requests", "#expires_at": EXPIRES_AT}


class DynamoRateLimits:
    """Implements `ports.rate_limits.RateLimits`."""

    def __init__(self, client: DynamoDBClient, *, table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    async def count(self, subject: str) -> int:
        return await in_thread(self._count, subject, int(self._clock.now() // 60))

    @of_store
    def _count(self, subject: str, minute: int) -> int:
        answer = self._client.update_item(
            TableName=self._table,
            Key=key_of(RATE + subject, str(minute)),
            UpdateExpression=_count_one_and_end_later,
            ExpressionAttributeNames=_NAMES,
            ExpressionAttributeValues={":one": number(1), ":expires_at": number(minute * 60 + _KEPT_FOR_S)},
            ReturnValues="UPDATED_NEW",
        )
        return whole_of(answer["Attributes"], "requests")
