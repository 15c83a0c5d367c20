"""The probe's book, for the probe: it claims its run here, and keeps what it found."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection, Sequence
from typing import Final

from shared.adapters.attributes import number, text
from shared.adapters.conditions import no_row_yet
from shared.adapters.failures import of_store
from shared.adapters.health_items import finished_attribute, item_of, place_of, place_of_run
from shared.adapters.health_reader import DynamoHealthReader
from shared.adapters.keys import PARTITION_KEY
from shared.adapters.row_updates import update_row
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.domain.health import HealthRecords, ProbeRun, ProviderHealth
from shared.ports.clock import Clock

# Each is true as well of a row that says it in an unknown way: such a row must not stop the probe for good. A time that
# is further ahead than can be is of a clock that was wrong.
_did_not_just_begin: Final = "NOT (#started_at > :long_ago AND #started_at < :far_ahead)"
_holds_no_lease: Final = "NOT (#lease_until > :now AND #lease_until <= :longest_lease)"
_is_mine: Final = "#run_id = :run_id"

_begin: Final = "SET #run_id = :run_id, #claim = :claim, #started_at = :now, #lease_until = :longest_lease"
_finish: Final = "SET #finished = :finished REMOVE #lease_until"


class DynamoHealthBook:
    """Implements `ports.health_book.HealthBook`."""

    def __init__(self, client: DynamoDBClient, *, table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._reader = DynamoHealthReader(client, table=table)

    async def records(self) -> HealthRecords:
        return await self._reader.records()

    async def begin(self, run_id: str, *, now: float, every_s: float, lease_s: float) -> bool:
        return await in_thread(self._begin, run_id, now, every_s, lease_s)

    async def finish(self, run: ProbeRun) -> None:
        await in_thread(self._finish, run)

    async def keep(self, healths: Sequence[ProviderHealth], *, forget: Collection[str]) -> None:
        puts = (in_thread(self._put, health) for health in healths)
        deletes = (in_thread(self._delete, provider_id) for provider_id in forget)
        await asyncio.gather(*puts, *deletes)

    def _begin(self, run_id: str, now: float, every_s: float, lease_s: float) -> bool:
        claim = text(secrets.token_hex(8))
        updated = update_row(
            self._client,
            self._table,
            place_of_run(),
            _begin,
            condition=f"{no_row_yet} OR ({_did_not_just_begin} AND {_holds_no_lease})",
            values={
                ":run_id": text(run_id),
                ":claim": claim,
                ":now": number(now),
                ":long_ago": number(now - every_s),
                ":far_ahead": number(now + every_s),
                ":longest_lease": number(now + lease_s),
            },
            names={"#pk": PARTITION_KEY},
        )
        # The client repeats a write whose answer was lost, and then finds its own.
        return updated.is_done or updated.row.get("claim") == claim

    def _finish(self, run: ProbeRun) -> None:
        finished_at = self._clock.now() if run.finished_at is None else run.finished_at
        update_row(
            self._client,
            self._table,
            place_of_run(),
            _finish,
            condition=_is_mine,
            values={":run_id": text(run.run_id), ":finished": finished_attribute(run, finished_at=finished_at)},
        )

    @of_store
    def _put(self, health: ProviderHealth) -> None:
        self._client.put_item(TableName=self._table, Item=item_of(health))

    @of_store
    def _delete(self, provider_id: str) -> None:
        self._client.delete_item(TableName=self._table, Key=place_of(provider_id))
