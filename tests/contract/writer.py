"""A process that does nothing but admin writes until it is killed. Prints one line for each write that was done."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from dataclasses import replace

from shared.domain.changes import Change
from shared.domain.credentials import Credential
from shared.domain.exposure import CredentialClass
from shared.domain.registrations import Provider
from tests.contract.far_ahead import a_change, an_idempotency_record
from tests.contract.worlds import Clients, StoreWorld
from tests.support.builders import a_credential, a_provider, an_internal_provider

_WRITERS = 4


def created(kind: str, thing: Provider | Credential) -> Change:
    record = an_idempotency_record(resource_id=thing.id)
    return a_change(idempotency=record, action="created", resource=f"{kind}/{thing.id}")


def act(kind: str, action: str, thing: Provider | Credential) -> Change:
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


def done() -> None:
    sys.stdout.write("done\n")
    sys.stdout.flush()


async def main(prefix: str) -> None:
    world = StoreWorld(Clients(), dict(os.environ))

    async def write(writer: int) -> None:
        for number in itertools.count():
            name = f"{prefix} {writer} {number}"
            await provider_life(world, name=name, internal=number % 2 == 0)
            await widget_life(world, name=name)

    await asyncio.gather(*(write(writer) for writer in range(_WRITERS)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
