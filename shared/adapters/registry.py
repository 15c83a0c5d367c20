"""Reading and writing registrations. Every write is one transaction."""

from __future__ import annotations

from functools import partial

from shared.adapters import binding_parts, owned_rows, provider_items
from shared.adapters.admin_writes import AdminWrites
from shared.adapters.attributes import Item, NewItem, number, text_of
from shared.adapters.company import changed_or_gone, existing_item, id_taken
from shared.adapters.conditions import is_unchanged, no_row_yet
from shared.adapters.credential_rows import CredentialRows, item_of_key, key_after, key_in
from shared.adapters.found_instances import FoundInstances, one_instance
from shared.adapters.generations import GENERATION
from shared.adapters.keys import ONLY, key_of
from shared.adapters.name_parts import PROVIDER_NAMES
from shared.adapters.pages import page_over
from shared.adapters.rows import row
from shared.adapters.services import DynamoDBClient
from shared.adapters.source_items import PROVIDERS
from shared.adapters.threads import in_thread
from shared.adapters.transactions import Part, busy, delete, put, refused_as, update
from shared.adapters.unreadable import readable
from shared.domain.changes import Change
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of, exposure_of_instance
from shared.domain.instances import Instance
from shared.domain.pages import Page
from shared.domain.registrations import MAX_PROVIDERS_PER_EXPOSURE, Provider, SealedSecret
from shared.errors import Conflict
from shared.ports.clock import Clock

_none_counted_yet = "attribute_not_exists(#provider_count)"
_has_room = "#provider_count < :most"
_move_on = "ADD #generation :one"
_move_on_and_count = "ADD #generation :one, #provider_count :count"
_provider = readable(provider_items.provider_of)


class DynamoRegistry:
    """Implements `ports.registry.Registry`."""

    def __init__(
        self, client: DynamoDBClient, *, public_table: str, internal_table: str, idempotency_table: str, clock: Clock
    ) -> None:
        self._client = client
        self._tables = {ExposureProfile.CUSTOMER_SAFE: public_table, ExposureProfile.AGENT_ONLY: internal_table}
        self._credentials = CredentialRows(client, table=internal_table)
        self._writes = AdminWrites(client, audit_table=internal_table, idempotency_table=idempotency_table, clock=clock)

    async def get(self, provider_id: str) -> Provider | None:
        profile = exposure_of(provider_id)
        return None if profile is None else await in_thread(self._get, self._tables[profile], provider_id)

    async def page(self, *, limit: int, after: str | None) -> Page[Provider]:
        found = {profile: FoundInstances(self._client, table) for profile, table in self._tables.items()}

        def find(instance_id: str) -> Instance | None:
            profile = exposure_of_instance(instance_id)
            return found[profile](instance_id) if profile else None

        return await page_over(
            self._client,
            self._tables.values(),
            PROVIDERS,
            read=partial(_provider, find=find),
            sort_key=lambda one: one.id,
            limit=limit,
            after=after,
        )

    async def create(self, provider: Provider, change: Change, *, credential_key: str | None = None) -> None:
        table = self._table_of(provider)
        key = key_after(_own_credential(provider), given=credential_key, stored=None)
        item = {**provider_items.item_of(provider), **item_of_key(key)}

        async def plan() -> list[Part]:
            return [
                put(table, item, condition=no_row_yet, refusal=refused_as(id_taken)),
                *binding_parts.bound(table, provider),
                PROVIDER_NAMES.taken(table, provider.source.name, by=provider.id),
                _one_more(table),
                *await self._settled(provider, before=None, after=key),
            ]

        await self._writes.carry_out(change, plan)

    async def replace(
        self, provider: Provider, *, expected_generation: int, change: Change, credential_key: str | None = None
    ) -> None:
        table = self._table_of(provider)
        if provider.generation != expected_generation + 1:
            raise ValueError("the generation must be the expected one plus one")

        async def plan() -> list[Part]:
            stored = existing_item(await self._item(table, provider.id))
            before = key_in(stored)
            after = key_after(_own_credential(provider), given=credential_key, stored=before)
            kept = binding_parts.kept_config(stored, provider)
            item = {**provider_items.item_of(provider), **kept, **item_of_key(after)}
            return [
                _replaced(table, item, expected_generation=expected_generation),
                *binding_parts.still_bound(table, stored, provider),
                *PROVIDER_NAMES.changed(table, text_of(stored, "name"), provider.source.name, by=provider.id),
                update(table, key_of(GENERATION, ONLY), change=_move_on, values={":one": number(1)}, refusal=_never),
                *await self._settled(provider, before=before, after=after),
            ]

        await self._writes.carry_out(change, plan)

    async def delete(self, provider: Provider, *, expected_generation: int, change: Change) -> None:
        table = self._table_of(provider)

        async def plan() -> list[Part]:
            stored = existing_item(await self._item(table, provider.id))
            return [
                _deleted(table, provider.id, expected_generation=expected_generation),
                *binding_parts.unbound(table, stored),
                PROVIDER_NAMES.given_up(table, text_of(stored, "name"), by=provider.id),
                _one_less(table),
                *await self._settled(provider, before=key_in(stored), after=None),
            ]

        await self._writes.carry_out(change, plan)

    async def delete_unreadable(self, provider_id: str, *, change: Change) -> None:
        profile = exposure_of(provider_id)
        if profile is None:
            raise changed_or_gone(None)
        table = self._tables[profile]

        async def plan() -> list[Part]:
            stored = existing_item(await self._item(table, provider_id))
            if await in_thread(self._get, table, provider_id) is not None:
                raise changed_or_gone(stored)
            removal = await in_thread(owned_rows.removed, self._client, table, {provider_id})
            return [
                *removal.parts,
                *await in_thread(owned_rows.unlisted_everywhere, self._client, table, provider_id),
                _one_less(table),
                *await self._credentials.settled(provider_id, profile, before=key_in(stored), after=None),
            ]

        await self._writes.carry_out(change, plan)

    async def _settled(self, provider: Provider, *, before: str | None, after: str | None) -> list[Part]:
        return await self._credentials.settled(provider.id, provider.exposure_profile, before=before, after=after)

    async def _item(self, table: str, provider_id: str) -> Item | None:
        return await in_thread(row, self._client, table, PROVIDERS, provider_id)

    def _get(self, table: str, provider_id: str) -> Provider | None:
        item = row(self._client, table, PROVIDERS, provider_id)
        return _provider(item, partial(one_instance, self._client, table)) if item else None

    def _table_of(self, provider: Provider) -> str:
        """A registration is stored where its id says, and only if it says the same itself."""
        profile = exposure_of(provider.id)
        if profile is None or profile is not provider.exposure_profile:
            raise ValueError("the id names another exposure profile")
        return self._tables[profile]


def _own_credential(provider: Provider) -> SealedSecret | None:
    """Not the one of the instance that a provider is bound to."""
    link = provider.source.link
    return link.credential if link and link.owner_id == provider.id else None


def _replaced(table: str, item: NewItem, *, expected_generation: int) -> Part:
    expected = {":expected": number(expected_generation)}
    return put(table, item, condition=is_unchanged, values=expected, refusal=changed_or_gone)


def _deleted(table: str, provider_id: str, *, expected_generation: int) -> Part:
    place, expected = key_of(PROVIDERS, provider_id), {":expected": number(expected_generation)}
    return delete(table, place, condition=is_unchanged, values=expected, refusal=changed_or_gone)


def _one_more(table: str) -> Part:
    return update(
        table,
        key_of(GENERATION, ONLY),
        change=_move_on_and_count,
        condition=f"{_none_counted_yet} OR {_has_room}",
        values={":one": number(1), ":count": number(1), ":most": number(MAX_PROVIDERS_PER_EXPOSURE)},
        refusal=refused_as(_limit_reached),
    )


def _one_less(table: str) -> Part:
    values = {":one": number(1), ":count": number(-1)}
    return update(table, key_of(GENERATION, ONLY), change=_move_on_and_count, values=values, refusal=_never)


_never = refused_as(busy)  # of parts without a condition


def _limit_reached() -> Conflict:
    most = MAX_PROVIDERS_PER_EXPOSURE
    return Conflict(f"There are {most} of this exposure profile already.", code="provider_limit_reached")
