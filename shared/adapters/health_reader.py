"""The probe's book, for those who only read it."""

from __future__ import annotations

from shared.adapters.health_items import HEALTH, is_run, readable_begun_run, readable_finished_run, readable_health
from shared.adapters.rows import rows
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.domain.health import HealthRecords, ProbeRun, ProviderHealth


class DynamoHealthReader:
    """Implements `ports.health_book.HealthReader`."""

    def __init__(self, client: DynamoDBClient, *, table: str) -> None:
        self._client = client
        self._table = table

    async def records(self) -> HealthRecords:
        return await in_thread(self._records)

    def _records(self) -> HealthRecords:
        run: ProbeRun | None = None
        finished: ProbeRun | None = None
        healths: list[ProviderHealth] = []
        for item in rows(self._client, self._table, HEALTH):
            if is_run(item):
                run, finished = readable_begun_run(item), readable_finished_run(item)
            elif (health := readable_health(item)) is not None:
                healths.append(health)
        is_over = run is not None and finished is not None and run.run_id == finished.run_id
        return HealthRecords(run=finished if is_over else run, finished=finished, providers=tuple(healths))
