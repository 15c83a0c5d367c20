"""The agent lane's registrations, out of both tables."""

from __future__ import annotations

import asyncio

from shared.adapters.attributes import Item
from shared.adapters.believed import provider_of_profile
from shared.adapters.generations import CurrentRegistrations
from shared.adapters.row_reads import RowReads
from shared.adapters.services import DynamoDBClient
from shared.adapters.unreadable import readable
from shared.domain.exposure import ExposureProfile
from shared.domain.registrations import Provider


class DynamoCatalog:
    """Implements `ports.catalog.Catalog`. Each table is believed only about the exposure profile that it is for."""

    def __init__(self, client: DynamoDBClient, *, reads: RowReads, public_table: str, internal_table: str) -> None:
        self._public = CurrentRegistrations(
            client, reads=reads, table=public_table, read=readable(provider_of_profile(ExposureProfile.CUSTOMER_SAFE))
        )
        self._internal = CurrentRegistrations(
            client, reads=reads, table=internal_table, read=readable(provider_of_profile(ExposureProfile.AGENT_ONLY))
        )

        self._generations: list[Item | None] = []
        self._known: tuple[Provider, ...] | None = None

    async def providers(self) -> tuple[Provider, ...]:
        rows = list(await asyncio.gather(self._public.generation_row(), self._internal.generation_row()))
        if rows != self._generations:
            self._generations, self._known = rows, None
        public, internal = await asyncio.gather(self._public.at(rows[0]), self._internal.at(rows[1]))
        providers = tuple(sorted(public + internal, key=lambda provider: (provider.source.created_at, provider.id)))
        if rows == self._generations:
            self._known = providers
        return providers

    def last_known(self) -> tuple[Provider, ...] | None:
        return self._known
