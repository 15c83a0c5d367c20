"""What `ports.catalog.Catalog` and `ports.customer_catalog.CustomerCatalog` promise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.catalog import DynamoCatalog
from shared.adapters.row_reads import RowReads
from shared.domain.registrations import Provider, ProviderStatus
from shared.errors import Unavailable
from tests.contract.far_ahead import NOW, a_change
from tests.contract.stubs import refusal
from tests.contract.worlds import StoreWorld, World
from tests.support.builders import a_provider, an_internal_provider


async def _registered(world: World, *providers: Provider) -> None:
    for provider in providers:
        await world.registry().create(provider, a_change())


async def test_without_registrations_both_are_empty(world: World) -> None:
    assert await world.catalog().providers() == ()
    assert await world.customer_catalog().sources() == ()


async def test_the_agent_lane_sees_every_registration_in_order_of_registration(world: World) -> None:
    late, early = a_provider(created_at=NOW + 3), an_internal_provider(created_at=NOW + 1)
    disabled = a_provider(created_at=NOW + 2, status=ProviderStatus.DISABLED)
    await _registered(world, late, early, disabled)
    assert await world.catalog().providers() == (early, disabled, late)


async def test_registrations_of_one_moment_are_ordered_by_id(world: World) -> None:
    providers = [a_provider(created_at=NOW) for _ in range(3)] + [an_internal_provider(created_at=NOW)]
    await _registered(world, *providers)
    assert [p.id for p in await world.catalog().providers()] == sorted(p.id for p in providers)
    customer = [one.source.id for one in await world.customer_catalog().sources()]
    assert customer == sorted(p.id for p in providers[:3])


async def test_the_customer_lane_sees_active_customer_safe_sources_alone(world: World) -> None:
    first, second = a_provider(created_at=NOW + 1), a_provider(created_at=NOW + 2)
    await _registered(
        world,
        second,
        an_internal_provider(),
        a_provider(status=ProviderStatus.DISABLED),
        first,
        a_provider(status=ProviderStatus.AUTO_DISABLED),
    )
    sources = await world.customer_catalog().sources()
    assert [one.source for one in sources] == [first.source, second.source]


async def test_a_process_that_read_before_sees_every_later_change(world: World) -> None:
    catalog, customer = world.catalog(), world.customer_catalog()
    provider = a_provider()
    await _registered(world, provider)
    assert await catalog.providers() == (provider,)
    assert len(await customer.sources()) == 1

    disabled = replace(provider.with_source(generation=2), status=ProviderStatus.DISABLED)
    await world.registry().replace(disabled, expected_generation=1, change=a_change())
    assert await catalog.providers() == (disabled,)
    assert await customer.sources() == ()

    await world.registry().delete(disabled, expected_generation=2, change=a_change())
    assert await catalog.providers() == ()


async def test_what_was_read_last_is_known_until_a_read_shows_a_change(world: World) -> None:
    catalog, provider = world.catalog(), a_provider()
    assert catalog.last_known() is None
    await _registered(world, provider)
    assert catalog.last_known() is None
    assert await catalog.providers() == (provider,)
    assert catalog.last_known() == (provider,)
    later = an_internal_provider(created_at=provider.source.created_at + 1)
    await _registered(world, later)
    assert catalog.last_known() == (provider,)
    await catalog.providers()
    assert catalog.last_known() == (provider, later)


class _Closing:
    """A real client; while `is_closed`, no registrations can be listed."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.is_closed = False

    def __getattr__(self, name: str) -> Any:
        if name == "query" and self.is_closed:
            raise refusal("ThrottlingException")
        return getattr(self._client, name)


@pytest.mark.emulator
async def test_registrations_that_have_changed_and_cannot_be_read_anew_are_not_known_any_more(
    store: StoreWorld,
) -> None:
    client: Any = _Closing(store.clients.dynamodb)
    catalog = DynamoCatalog(
        client, reads=RowReads(client), public_table=store.public_table, internal_table=store.internal_table
    )
    provider = a_provider()
    await store.registry().create(provider, a_change())
    await catalog.providers()
    client.is_closed = True
    await catalog.providers()
    assert catalog.last_known() == (provider,)
    await store.registry().create(an_internal_provider(), a_change())
    with pytest.raises(Unavailable):
        await catalog.providers()
    assert catalog.last_known() is None
