"""What `ports.internal_catalog.InternalCatalog` promises, and that its adapter looks into one table alone."""

from __future__ import annotations

from dataclasses import replace

from shared.domain.registrations import Provider, ProviderStatus
from tests.contract.far_ahead import NOW, a_change
from tests.contract.worlds import World
from tests.support.builders import a_provider, an_internal_provider


async def _registered(world: World, *providers: Provider) -> None:
    for provider in providers:
        await world.registry().create(provider, a_change())


async def test_without_registrations_it_is_empty(world: World) -> None:
    assert await world.internal_catalog().providers() == ()


async def test_it_holds_agent_only_registrations_of_every_status_in_order_of_registration(world: World) -> None:
    late, early = an_internal_provider(created_at=NOW + 3), an_internal_provider(created_at=NOW + 1)
    disabled = an_internal_provider(created_at=NOW + 2, status=ProviderStatus.DISABLED)
    await _registered(world, late, a_provider(created_at=NOW), disabled, early)
    assert await world.internal_catalog().providers() == (early, disabled, late)


async def test_registrations_of_one_moment_are_ordered_by_id(world: World) -> None:
    providers = [an_internal_provider(created_at=NOW) for _ in range(3)]
    await _registered(world, *providers)
    assert [p.id for p in await world.internal_catalog().providers()] == sorted(p.id for p in providers)


async def test_a_process_that_read_before_sees_every_later_change(world: World) -> None:
    catalog, provider = world.internal_catalog(), an_internal_provider()
    await _registered(world, provider)
    assert await catalog.providers() == (provider,)
    disabled = replace(provider.with_source(generation=2), status=ProviderStatus.DISABLED)
    await world.registry().replace(disabled, expected_generation=1, change=a_change())
    assert await catalog.providers() == (disabled,)
    await world.registry().delete(disabled, expected_generation=2, change=a_change())
    assert await catalog.providers() == ()
