"""Reading and writing self-hosted instances. Every write is one transaction."""

from __future__ import annotations

from functools import partial

from shared.adapters import instance_parts, owned_rows
from shared.adapters.admin_writes import AdminWrites
from shared.adapters.attributes import Item, text_of
from shared.adapters.batches import rows_of
from shared.adapters.company import changed_or_gone, existing_item
from shared.adapters.credential_rows import CredentialRows, item_of_key, key_after, key_in
from shared.adapters.found_instances import one_instance
from shared.adapters.instance_items import INSTANCES, instance_of, item_of
from shared.adapters.name_parts import INSTANCE_NAMES
from shared.adapters.pages import page_over
from shared.adapters.provider_items import provider_of
from shared.adapters.rows import row
from shared.adapters.services import DynamoDBClient
from shared.adapters.source_items import PROVIDERS
from shared.adapters.threads import in_thread
from shared.adapters.transactions import Part
from shared.adapters.unreadable import readable
from shared.domain.changes import Change
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of_instance
from shared.domain.instances import Instance
from shared.domain.pages import Page
from shared.domain.registrations import Provider
from shared.ports.clock import Clock

_instance = readable(instance_of)
_provider = readable(provider_of)


class DynamoInstances:
    """Implements `ports.instances.Instances`."""

    def __init__(
        self, client: DynamoDBClient, *, public_table: str, internal_table: str, idempotency_table: str, clock: Clock
    ) -> None:
        self._client = client
        self._tables = {ExposureProfile.CUSTOMER_SAFE: public_table, ExposureProfile.AGENT_ONLY: internal_table}
        self._credentials = CredentialRows(client, table=internal_table)
        self._writes = AdminWrites(client, audit_table=internal_table, idempotency_table=idempotency_table, clock=clock)

    async def get(self, instance_id: str) -> Instance | None:
        profile = exposure_of_instance(instance_id)
        if profile is None:
            return None
        return await in_thread(one_instance, self._client, self._tables[profile], instance_id)

    async def page(self, *, limit: int, after: str | None) -> Page[Instance]:
        tables = self._tables.values()
        return await page_over(
            self._client, tables, INSTANCES, read=_instance, sort_key=lambda one: one.id, limit=limit, after=after
        )

    async def bindings(self, instance_id: str) -> tuple[Provider, ...]:
        profile = exposure_of_instance(instance_id)
        if profile is None:
            return ()
        return await in_thread(self._bindings, self._tables[profile], instance_id)

    async def create(self, instance: Instance, change: Change, *, credential_key: str | None) -> None:
        table = self._table_of(instance)
        after = key_after(instance.credential, given=credential_key, stored=None)
        item = {**item_of(instance), **item_of_key(after)}

        async def plan() -> list[Part]:
            return [
                *instance_parts.created(table, item),
                INSTANCE_NAMES.taken(table, instance.name, by=instance.id),
                *await self._settled(instance, before=None, after=after),
            ]

        await self._writes.carry_out(change, plan)

    async def replace(
        self,
        instance: Instance,
        *,
        expected_generation: int,
        change: Change,
        credential_key: str | None,
        disable: frozenset[str] = frozenset(),
    ) -> None:
        table = self._table_of(instance)
        if instance.generation != expected_generation + 1:
            raise ValueError("the generation must be the expected one plus one")

        async def plan() -> list[Part]:
            stored = existing_item(await self._item(table, instance.id))
            before = key_in(stored)
            after = key_after(instance.credential, given=credential_key, stored=before)
            item = {**item_of(instance), **item_of_key(after)}
            return [
                *instance_parts.replaced(table, item, expected_generation=expected_generation),
                *INSTANCE_NAMES.changed(table, text_of(stored, "name"), instance.name, by=instance.id),
                *await in_thread(self._switched_off, table, disable, instance.updated_at),
                *await self._settled(instance, before=before, after=after),
            ]

        await self._writes.carry_out(change, plan)

    async def delete(
        self,
        instance: Instance,
        *,
        expected_generation: int,
        change: Change,
        bindings: frozenset[str] = frozenset(),
    ) -> None:
        table = self._table_of(instance)

        async def plan() -> list[Part]:
            stored = existing_item(await self._item(table, instance.id))
            removal = await in_thread(owned_rows.removed, self._client, table, bindings)
            return [
                *instance_parts.deleted(
                    table,
                    instance.id,
                    expected_generation=expected_generation,
                    binding_ids=bindings,
                    bindings=removal,
                ),
                INSTANCE_NAMES.given_up(table, text_of(stored, "name"), by=instance.id),
                *await self._settled(instance, before=key_in(stored), after=None),
            ]

        await self._writes.carry_out(change, plan)

    async def delete_unreadable(
        self, instance_id: str, *, change: Change, bindings: frozenset[str] = frozenset()
    ) -> None:
        profile = exposure_of_instance(instance_id)
        if profile is None:
            raise changed_or_gone(None)
        table = self._tables[profile]

        async def plan() -> list[Part]:
            stored = existing_item(await self._item(table, instance_id))
            if _instance(stored) is not None:
                raise changed_or_gone(stored)
            removal = await in_thread(owned_rows.removed, self._client, table, bindings)
            return [
                *instance_parts.deleted_as_found(table, stored, binding_ids=bindings, bindings=removal),
                *await in_thread(owned_rows.instance_names_freed, self._client, table, instance_id),
                *await self._credentials.settled(instance_id, profile, before=key_in(stored), after=None),
            ]

        await self._writes.carry_out(change, plan)

    def _switched_off(self, table: str, ids: frozenset[str], now: float) -> tuple[Part, ...]:
        return owned_rows.switched_off(self._client, table, ids, now=now)

    async def _settled(self, instance: Instance, *, before: str | None, after: str | None) -> list[Part]:
        return await self._credentials.settled(instance.id, instance.exposure_profile, before=before, after=after)

    async def _item(self, table: str, instance_id: str) -> Item | None:
        return await in_thread(row, self._client, table, INSTANCES, instance_id)

    def _bindings(self, table: str, instance_id: str) -> tuple[Provider, ...]:
        instance = one_instance(self._client, table, instance_id)
        if instance is None:
            return ()
        places = [(table, PROVIDERS, provider_id) for provider_id in sorted(instance.binding_ids)]
        found = rows_of(self._client, places)
        read = partial(_provider, find=lambda wanted: instance if wanted == instance_id else None)
        providers = (read(found[place]) for place in places if place in found)
        return tuple(provider for provider in providers if provider is not None)

    def _table_of(self, instance: Instance) -> str:
        """An instance is stored where its id says, and only if it says the same itself."""
        profile = exposure_of_instance(instance.id)
        if profile is None or profile is not instance.exposure_profile:
            raise ValueError("the id names another exposure profile")
        return self._tables[profile]
