"""The agent_only registrations, out of their own table and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.adapters.believed import provider_of_profile
from shared.adapters.generations import CurrentRegistrations
from shared.adapters.row_reads import RowReads
from shared.adapters.unreadable import readable
from shared.domain.exposure import ExposureProfile
from shared.domain.registrations import Provider

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoInternalCatalog:
    """Implements `ports.internal_catalog.InternalCatalog`. A row that names another exposure profile is left out."""

    def __init__(self, client: DynamoDBClient, *, reads: RowReads, table: str) -> None:
        self._registrations = CurrentRegistrations(
            client, reads=reads, table=table, read=readable(provider_of_profile(ExposureProfile.AGENT_ONLY))
        )

    async def providers(self) -> tuple[Provider, ...]:
        found = await self._registrations.at(await self._registrations.generation_row())
        return tuple(sorted(found, key=lambda provider: (provider.source.created_at, provider.id)))
