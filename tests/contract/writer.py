"""A process that does nothing but admin writes until it is killed. Prints one line for each write that was done."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from dataclasses import replace

from shared.domain.changes import Change
from shared.domain.credentials import Credential
from shared.domain.exposure import CredentialClass, ExposureProfile
from shared.domain.instances import Instance
from shared.domain.registrations import Provider, ProviderStatus
from tests.contract.far_ahead import a_change, an_idempotency_record
from tests.contract.worlds import Clients, StoreWorld
from tests.support.builders import a_binding, a_credential, a_provider, an_instance, an_internal_provider

_WRITERS = 4
INSTANCES_EACH = 2  # one of them stays, and the tables have room for fifty of each exposure profile


def created(kind: str, thing: Provider | Credential | Instance, **audit: str) -> Change:
    record = an_idempotency_record(resource_id=thing.id)
    return a_change(idempotency=record, action="created", resource=f"{kind}/{thing.id}", **audit)


def act(kind: str, action: str, thing: Provider | Credential | Instance) -> Change:
    return a_change(action=action, resource=f"{kind}/{thing.id}")


async def provider_life(world: StoreWorld, *, name: str, internal: bool) -> None:
    """Created, renamed, changed, and every other time deleted."""
    registry = world.registry()
    build = an_internal_provider if internal else a_provider
    provider = build(name=name)
    await registry.create(provider, created("provider", provider))
    done()
    for generation in (2, 3):
        provider = provider.with_source(name=f"{name} / {generation}", generation=generation)
        await registry.replace(
            provider, expected_generation=generation - 1, change=act("provider", "updated", provider)
        )
        done()
    if internal:
        await registry.delete(provider, expected_generation=3, change=act("provider", "deleted", provider))
        done()


async def widget_life(world: StoreWorld, *, name: str) -> None:
    store = world.credential_store()
    widget = a_credential(
        credential_class=CredentialClass.PUBLIC,
        name=name,
        origins=tuple(f"https://{letter}.fern-desk.test" for letter in "abcdef"),
    )
    await store.create(widget, created("credential", widget))
    done()
    widget = replace(widget, origins=(*widget.origins[3:], "https://g.fern-desk.test"), generation=2)
    await store.replace(widget, expected_generation=1, change=act("credential", "updated", widget))
    done()
    if name.endswith("0"):
        await store.delete(widget, expected_generation=2, change=act("credential", "deleted", widget))
        done()


async def instance_life(world: StoreWorld, *, name: str, internal: bool) -> None:
    """Registered with one of a few credentials, bound twice, changed, unbound once, and every other time deleted with
    what is still bound.
    """
    instances, registry = world.instances(), world.registry()
    profile = ExposureProfile.AGENT_ONLY if internal else ExposureProfile.CUSTOMER_SAFE
    instance = an_instance(name=name, exposure_profile=profile)
    key = f"{profile} {len(name) % 3}"
    await instances.create(instance, created("instance", instance), credential_key=key)
    done()
    bindings = [a_binding(instance, name=f"{name} / {number}") for number in (1, 2)]
    for binding in bindings:
        await registry.create(binding, created("binding", binding, actor=instance.id))
        done()
    read = await instances.get(instance.id)
    off = [replace(one.with_source(generation=2), status=ProviderStatus.DISABLED) for one in bindings]
    changed = replace(read, name=f"{name} / changed", generation=2)
    await instances.replace(
        changed,
        expected_generation=1,
        change=act("instance", "updated", changed),
        credential_key=f"{key} changed",
        disable=frozenset(one.id for one in off),
    )
    done()
    await registry.delete(off[0], expected_generation=2, change=act("binding", "deleted", off[0]))
    done()
    if internal:
        change = act("instance", "deleted", changed)
        await instances.delete(changed, expected_generation=2, change=change, bindings=frozenset({off[1].id}))
        done()


def done() -> None:
    sys.stdout.write("done\n")
    sys.stdout.flush()


async def main(prefix: str) -> None:
    world = StoreWorld(Clients(), dict(os.environ))

    async def write(writer: int) -> None:
        for number in itertools.count():
            name = f"{prefix} {writer} {number}"
            if number < INSTANCES_EACH and writer % 2 == 0:
                await instance_life(world, name=name, internal=number % 2 == 0)
            await provider_life(world, name=name, internal=number % 2 == 0)
            await widget_life(world, name=name)

    await asyncio.gather(*(write(writer) for writer in range(_WRITERS)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
