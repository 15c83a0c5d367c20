"""What `ports.catalog.Catalog` and `ports.customer_catalog.CustomerCatalog` promise."""

from __future__ import annotations

from dataclasses import replace

from shared.domain.registrations import Provider, ProviderStatus
from tests.contract.far_ahead import NOW, a_change
from tests.contract.worlds import World
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
