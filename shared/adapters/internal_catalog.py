"""The agent_only registrations, out of their own table and no other."""

from __future__ import annotations

from shared.adapters.attributes import Item
from shared.adapters.believed import provider_of_profile
from shared.adapters.generations import CurrentRegistrations
from shared.adapters.instance_items import FindInstance
from shared.adapters.row_reads import RowReads
from shared.adapters.services import DynamoDBClient
from shared.adapters.unreadable import readable
from shared.domain.exposure import ExposureProfile
from shared.domain.registrations import SERVER_KINDS, Provider

_internal = readable(provider_of_profile(ExposureProfile.AGENT_ONLY))
_OF_A_SERVER = tuple({"S": kind.value} for kind in SERVER_KINDS)


class DynamoInternalCatalog:
    """Implements `ports.internal_catalog.InternalCatalog`. A row that names another exposure profile is left out."""

    def __init__(self, client: DynamoDBClient, *, reads: RowReads, table: str) -> None:
        self._registrations = CurrentRegistrations(client, reads=reads, table=table, read=_of_no_server)

    async def providers(self) -> tuple[Provider, ...]:
        return await self._registrations.at(await self._registrations.generation_row())


def _of_no_server(item: Item, find: FindInstance) -> Provider | None:
    """Left out unread: whoever asks no server has no business with its credential."""
    return None if item.get("kind") in _OF_A_SERVER else _internal(item, find)
