"""The agent lane's registrations, out of both tables."""

from __future__ import annotations

import asyncio

from shared.adapters.attributes import Item
from shared.adapters.believed import provider_of_profile
from shared.adapters.generations import CurrentRegistrations, in_order
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
        self._merged_from: tuple[tuple[Provider, ...], tuple[Provider, ...]] = ((), ())
        self._merged: tuple[Provider, ...] = ()

    async def providers(self) -> tuple[Provider, ...]:
        rows = list(await asyncio.gather(self._public.generation_row(), self._internal.generation_row()))
        if rows != self._generations:
            self._generations, self._known = rows, None
        public, internal = await asyncio.gather(self._public.at(rows[0]), self._internal.at(rows[1]))
        providers = self._both(public, internal)
        if rows == self._generations:
            self._known = providers
        return providers

    def _both(self, public: tuple[Provider, ...], internal: tuple[Provider, ...]) -> tuple[Provider, ...]:
        """Put in order once for as long as neither is read anew: a search may ask five of hundreds."""
        if self._merged_from[0] is not public or self._merged_from[1] is not internal:
            self._merged_from, self._merged = (public, internal), in_order(public + internal)
        return self._merged

    def last_known(self) -> tuple[Provider, ...] | None:
        return self._known
