"""The customer lane's sources, out of the one table that this lane may read."""

from __future__ import annotations

from shared.adapters.attributes import Item, text_of
from shared.adapters.generations import CurrentRegistrations
from shared.adapters.instance_items import FindInstance
from shared.adapters.row_reads import RowReads
from shared.adapters.services import DynamoDBClient
from shared.adapters.source_items import source_of
from shared.adapters.unreadable import readable
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of
from shared.domain.registrations import SERVER_KINDS, CustomerSource, ProviderKind, ProviderStatus

_KINDS = SERVER_KINDS | {ProviderKind.CONTRACT}


class DynamoCustomerCatalog:
    """Implements `ports.customer_catalog.CustomerCatalog`."""

    def __init__(self, client: DynamoDBClient, *, reads: RowReads, table: str) -> None:
        self._registrations = CurrentRegistrations(client, reads=reads, table=table, read=_active_source)

    async def sources(self) -> tuple[CustomerSource, ...]:
        return await self._registrations.at(await self._registrations.generation_row())


def _customer_source(item: Item, find: FindInstance) -> CustomerSource:
    """Both the item and its id have to say customer_safe, and its kind has to be one that may be."""
    source = source_of(item, find)
    stated = text_of(item, "exposure_profile") == ExposureProfile.CUSTOMER_SAFE
    if not stated or exposure_of(source.id) is not ExposureProfile.CUSTOMER_SAFE:
        raise ValueError("exposure_profile")
    if source.kind not in _KINDS:
        raise ValueError("kind")
    return CustomerSource(source)


_safe_source = readable(_customer_source)


def _active_source(item: Item, find: FindInstance) -> CustomerSource | None:
    is_active = item.get("status") == {"S": ProviderStatus.ACTIVE.value}
    return _safe_source(item, find) if is_active else None
