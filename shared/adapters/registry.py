"""Reading and writing registrations. Every write is one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from shared.adapters import provider_items
from shared.adapters.attributes import Item, number, text, text_of
from shared.adapters.company import audited, changed_or_gone, id_taken, once
from shared.adapters.conditions import is_unchanged, no_row_yet
from shared.adapters.generations import GENERATION
from shared.adapters.keys import ONLY, key_of
from shared.adapters.pages import page_over
from shared.adapters.rows import row
from shared.adapters.source_items import PROVIDERS
from shared.adapters.threads import in_thread
from shared.adapters.transactions import Part, busy, commit, delete, put, refused_as, update
from shared.adapters.unreadable import readable
from shared.domain.changes import Change
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of
from shared.domain.names import name_key
from shared.domain.pages import Page
from shared.domain.registrations import MAX_PROVIDERS_PER_EXPOSURE, Provider
from shared.errors import Conflict
from shared.ports.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NAMES: Final = "NAME"

_is_its_own = "#provider_id = :id"
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
        self._audit_table = internal_table
        self._idempotency_table = idempotency_table
        self._clock = clock

    async def get(self, provider_id: str) -> Provider | None:
        item = await self._item(provider_id)
        return _provider(item) if item else None

    async def page(self, *, limit: int, after: str | None) -> Page[Provider]:
        tables = self._tables.values()
        return await page_over(
            self._client, tables, PROVIDERS, read=_provider, sort_key=lambda one: one.id, limit=limit, after=after
        )

    async def create(self, provider: Provider, change: Change) -> None:
        table = self._table_of(provider)
        item = provider_items.item_of(provider)
        parts = [
            put(table, item, condition=no_row_yet, refusal=refused_as(id_taken)),
            _name_taken_by(provider, table),
            _one_more(table),
        ]
        await self._commit(parts, change)

    async def replace(self, provider: Provider, *, expected_generation: int, change: Change) -> None:
        table = self._table_of(provider)
        if provider.generation != expected_generation + 1:
            raise ValueError("the generation must be the expected one plus one")
        stored = await self._item(provider.id)
        expected = {":expected": number(expected_generation)}
        item = provider_items.item_of(provider)
        parts = [
            put(table, item, condition=is_unchanged, values=expected, refusal=changed_or_gone),
            *_renamed(stored, provider, table),
            update(table, key_of(GENERATION, ONLY), change=_move_on, values={":one": number(1)}, refusal=_never),
        ]
        await self._commit(parts, change)

    async def delete(self, provider: Provider, *, expected_generation: int, change: Change) -> None:
        table = self._table_of(provider)
        stored = await self._item(provider.id)
        expected = {":expected": number(expected_generation)}
        key = key_of(PROVIDERS, provider.id)
        parts = [
            delete(table, key, condition=is_unchanged, values=expected, refusal=changed_or_gone),
            *([_name_given_up(stored, table)] if stored else []),
            _one_less(table),
        ]
        await self._commit(parts, change)

    async def _commit(self, parts: list[Part], change: Change) -> None:
        first = once(change, table=self._idempotency_table, now=self._clock.now())
        await commit(self._client, [*first, *parts, audited(change, table=self._audit_table)])

    async def _item(self, provider_id: str) -> Item | None:
        profile = exposure_of(provider_id)
        if profile is None:
            return None
        return await in_thread(row, self._client, self._tables[profile], PROVIDERS, provider_id)

    def _table_of(self, provider: Provider) -> str:
        """A registration is stored where its id says, and only if it says the same itself."""
        profile = exposure_of(provider.id)
        if profile is None or profile is not provider.exposure_profile:
            raise ValueError("the id names another exposure profile")
        return self._tables[profile]


def _name_taken_by(provider: Provider, table: str) -> Part:
    item = {**key_of(NAMES, name_key(provider.source.name)), "provider_id": text(provider.id)}
    return put(table, item, condition=no_row_yet, refusal=refused_as(_name_taken))


def _name_given_up(stored: Item, table: str) -> Part:
    """The name comes out of the stored item. Should that have changed since, its generation has, and nothing is
    written.
    """
    key = key_of(NAMES, name_key(text_of(stored, "name")))
    return delete(table, key, condition=_is_its_own, values={":id": stored["sk"]}, refusal=refused_as(busy))


def _renamed(stored: Item | None, provider: Provider, table: str) -> list[Part]:
    if stored is None or name_key(text_of(stored, "name")) == name_key(provider.source.name):
        return []
    return [_name_given_up(stored, table), _name_taken_by(provider, table)]


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


def _name_taken() -> Conflict:
    return Conflict("Another one of this exposure profile has this name.", code="name_taken")


def _limit_reached() -> Conflict:
    most = MAX_PROVIDERS_PER_EXPOSURE
    return Conflict(f"There are {most} of this exposure profile already.", code="provider_limit_reached")
