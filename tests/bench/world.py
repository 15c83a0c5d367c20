"""A gateway to measure: the embedded AWS backend, registered providers, one agent's token."""

from __future__ import annotations

import asyncio
import atexit
import functools
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from shared.adapters import aws
from shared.adapters.clock import SystemClock
from shared.adapters.credential_store import DynamoCredentialStore
from shared.adapters.registry import DynamoRegistry
from shared.adapters.secret_box import KmsSealer
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import new_signing_secret, new_token_secret
from shared.domain.registrations import Capabilities
from tests.bench.processes import a_server
from tests.support.builders import a_change, a_credential, a_provider, a_source, a_token
from tests.support.emulator import emulator, provisioned

_PROVIDER = "tests.bench.provider_process"
_UNLIMITED = 10_000_000


@dataclass(frozen=True, slots=True)
class World:
    """`slow` answer after 50 ms, `instant` at once; both are provider ids in registration order."""

    environment: dict[str, str]
    token: str
    slow: tuple[str, ...]
    slow_url: str
    instant: tuple[str, ...]
    instant_url: str


@contextmanager
def a_world(*, providers: int = 20) -> Iterator[World]:
    """Runs it, with its environment set in this process."""
    with (
        emulator() as endpoint,
        a_server(_PROVIDER, "50") as slow_url,
        a_server(_PROVIDER, "0") as instant_url,
    ):
        environment = provisioned(endpoint, prefix=f"bench{secrets.token_hex(4)}")
        environment |= {"KG_ALLOW_LOOPBACK_HTTP": "true", "POWERTOOLS_LOG_LEVEL": "CRITICAL"}
        os.environ.update(environment)
        token, (slow, instant) = asyncio.run(_registered(environment, [slow_url, instant_url], count=providers))
        yield World(environment, token, slow, slow_url, instant, instant_url)


@functools.cache
def the_world() -> World:
    """The one that several groups share: begun when a group first needs it, and ended with this process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(a_world())


async def _registered(environment: dict[str, str], urls: list[str], *, count: int) -> tuple[str, list[tuple[str, ...]]]:
    dynamodb, clock = aws.dynamodb(), SystemClock()
    places = {
        "public_table": environment["KG_TABLE_REGISTRATIONS_PUBLIC"],
        "internal_table": environment["KG_TABLE_REGISTRATIONS_INTERNAL"],
        "idempotency_table": environment["KG_TABLE_LEDGER_INTERNAL"],
    }
    registry = DynamoRegistry(dynamodb, clock=clock, **places)
    sealer = KmsSealer(aws.kms(), key_id=environment["KG_KEY_PUBLIC"], exposure=ExposureProfile.CUSTOMER_SAFE)
    ids = [tuple([await _register(registry, sealer, url) for _ in range(count)]) for url in urls]
    secret = new_token_secret()
    credential = a_credential(secret=secret, rate_per_minute=_UNLIMITED)
    await DynamoCredentialStore(dynamodb, clock=clock, **places).create(credential, a_change())
    return a_token(credential, secret=secret), ids


async def _register(registry: DynamoRegistry, sealer: KmsSealer, url: str) -> str:
    source = a_source(base_url=url, capabilities=Capabilities(scoring=True, locale=True))
    sealed = await sealer.seal(new_signing_secret(), owner_id=source.id, purpose="signing")
    provider = a_provider(source=source).with_source(signing=sealed)
    await registry.create(provider, a_change())
    return provider.id
