"""What the admin asks of the tables around self-hosted servers, in the life of two of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from shared.adapters.keys import key_of
from shared.domain.exposure import ExposureProfile
from shared.domain.instances import Instance
from shared.domain.registrations import ProviderStatus
from tests.contract.far_ahead import a_change
from tests.contract.worlds import Clients, StoreWorld
from tests.support.builders import a_binding, an_instance


async def run_instances(environment: Mapping[str, str]) -> None:
    """In each exposure profile one stays, with a binding; another one's life is lived to its end."""
    world = StoreWorld(Clients(), dict(environment))
    for profile in ExposureProfile:
        await _kept(world, profile)
        await _lived(world, profile)


async def _kept(world: StoreWorld, profile: ExposureProfile) -> None:
    instance = an_instance(exposure_profile=profile)
    key = await world.credential_keys().key_of(credential=f"kept {profile}")
    await world.instances().create(instance, a_change(), credential_key=key)
    binding = a_binding(instance, status=ProviderStatus.DISABLED)
    await world.registry().create(binding, a_change())
    renamed = replace(await world.registry().get(binding.id)).with_source(name=f"Kept {profile}", generation=2)
    await world.registry().replace(renamed, expected_generation=1, change=a_change())
    other = a_binding(instance)
    await world.registry().create(other, a_change())
    await world.registry().delete(other, expected_generation=1, change=a_change())
    await world.instances().page(limit=10, after=None)


async def _lived(world: StoreWorld, profile: ExposureProfile) -> None:
    instances, instance = world.instances(), an_instance(exposure_profile=profile)
    twin = an_instance(exposure_profile=profile)
    for one in (instance, twin):
        await instances.create(one, a_change(), credential_key=f"{profile}-shared")
    await world.registry().create(a_binding(instance), a_change())
    read, (binding,) = await instances.get(instance.id), await instances.bindings(instance.id)
    off = replace(binding.with_source(generation=2), status=ProviderStatus.DISABLED, needs_test=True)
    changed = replace(read, name=f"New {profile}", generation=2)
    await instances.replace(
        changed,
        expected_generation=1,
        change=a_change(),
        credential_key=f"{profile}-other",
        disable=frozenset({off.id}),
    )
    await instances.delete(changed, expected_generation=2, change=a_change(), bindings=frozenset({off.id}))
    _spoil(world, twin)
    await instances.delete_unreadable(twin.id, change=a_change())


def _spoil(world: StoreWorld, instance: Instance) -> None:
    """Behind everybody's back, by calls that the admin makes as well: its row says nothing of where the server is."""
    is_public = instance.exposure_profile is ExposureProfile.CUSTOMER_SAFE
    table = world.public_table if is_public else world.internal_table
    row = world.clients.dynamodb.get_item(TableName=table, Key=key_of("INSTANCE", instance.id))["Item"]
    world.clients.dynamodb.put_item(TableName=table, Item={k: v for k, v in row.items() if k != "base_url"})
