"""The probe's book, for those who only read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.adapters.health_items import HEALTH, is_run, readable_health, readable_run
from shared.adapters.rows import rows
from shared.adapters.threads import in_thread
from shared.domain.health import HealthRecords

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoHealthReader:
    """Implements `ports.health_book.HealthReader`."""

    def __init__(self, client: DynamoDBClient, *, table: str) -> None:
        self._client = client
        self._table = table

    async def records(self) -> HealthRecords:
        return await in_thread(self._records)

    def _records(self) -> HealthRecords:
        found = list(rows(self._client, self._table, HEALTH))
        runs = [run for item in found if is_run(item) and (run := readable_run(item)) is not None]
        healths = (readable_health(item) for item in found if not is_run(item))
        providers = tuple(health for health in healths if health is not None)
        return HealthRecords(run=runs[0] if runs else None, providers=providers)
