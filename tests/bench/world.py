"""What searches are measured on: the embedded AWS backend, providers in processes of their own, gateways over them."""

from __future__ import annotations

import asyncio
import atexit
import functools
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from infra.local.provision import client_environment
from shared.adapters import aws
from shared.adapters.clock import SystemClock
from shared.adapters.credential_store import DynamoCredentialStore
from shared.adapters.registry import DynamoRegistry
from shared.adapters.secret_box import KmsSealer
from shared.domain.exposure import CredentialClass, ExposureProfile, Grant
from shared.domain.identifiers import new_signing_secret, new_token_secret
from shared.domain.registrations import Capabilities
from tests.bench.processes import a_server
from tests.support.builders import a_change, a_credential, a_provider, a_source, a_token
from tests.support.emulator import emulator, provisioned

ORIGIN = "https://help.fern-desk.test"
_PROVIDER = "tests.bench.provider_process"
_UNLIMITED = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """Tables of its own, whose registrations are `ids` in their order, and a token of each class."""

    environment: Mapping[str, str]
    ids: tuple[str, ...]
    agent: str
    assistant: str
    widget: str


class World:
    """`environment` leads to tables in which nothing is registered."""

    def __init__(self, endpoint: str, stack: ExitStack) -> None:
        self._endpoint = endpoint
        self._stack = stack
        os.environ.update(client_environment(endpoint) | {"POWERTOOLS_LOG_LEVEL": "CRITICAL"})
        self.environment = self._provisioned()
        self.provider = functools.cache(self._provider)

    def _provider(self, delay_ms: int, manner: str = "answers") -> str:
        """The base URL of a provider that answers after so long; `manner` is one of its process. Begun when it is
        first asked for.
        """
        return self._stack.enter_context(a_server(_PROVIDER, str(delay_ms), manner))

    def gateway(self, urls: Sequence[str]) -> Gateway:
        """With one registration for each of the URLs, all of them for customers too."""
        return asyncio.run(_registered(self._provisioned(), urls))

    def _provisioned(self) -> dict[str, str]:
        environment = provisioned(self._endpoint, prefix=f"bench{secrets.token_hex(4)}")
        return environment | {"KG_ALLOW_LOOPBACK_HTTP": "true", "POWERTOOLS_LOG_LEVEL": "CRITICAL"}


@contextmanager
def a_world() -> Iterator[World]:
    """Runs it, with the way to its backend set in the environment of this process."""
    with ExitStack() as stack:
        yield World(stack.enter_context(emulator()), stack)


@functools.cache
def the_world() -> World:
    """The one that several groups share: begun when a group first needs it, and ended with this process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(a_world())


async def _registered(environment: dict[str, str], urls: Sequence[str]) -> Gateway:
    dynamodb, clock = aws.dynamodb(), SystemClock()
    places = {
        "public_table": environment["KG_TABLE_REGISTRATIONS_PUBLIC"],
        "internal_table": environment["KG_TABLE_REGISTRATIONS_INTERNAL"],
        "idempotency_table": environment["KG_TABLE_LEDGER_INTERNAL"],
    }
    registry = DynamoRegistry(dynamodb, clock=clock, **places)
    sealer = KmsSealer(aws.kms(), key_id=environment["KG_KEY_PUBLIC"], exposure=ExposureProfile.CUSTOMER_SAFE)
    store = DynamoCredentialStore(dynamodb, clock=clock, **places)
    return Gateway(
        environment=environment,
        ids=tuple([await _register(registry, sealer, url) for url in urls]),
        agent=await _issue(store, CredentialClass.AGENT),
        assistant=await _issue(store, CredentialClass.ASSISTANT),
        widget=await _issue(store, CredentialClass.PUBLIC),
    )


async def _register(registry: DynamoRegistry, sealer: KmsSealer, url: str) -> str:
    source = a_source(base_url=url, capabilities=Capabilities(scoring=True, locale=True))
    sealed = await sealer.seal(new_signing_secret(), owner_id=source.id, purpose="signing")
    provider = a_provider(source=source).with_source(signing=sealed)
    await registry.create(provider, a_change())
    return provider.id


async def _issue(store: DynamoCredentialStore, credential_class: CredentialClass) -> str:
    secret = new_token_secret()
    credential = a_credential(
        credential_class=credential_class,
        secret=secret,
        rate_per_minute=_UNLIMITED,
        address_rate_per_minute=_UNLIMITED,
        origins=(ORIGIN,) if credential_class is CredentialClass.PUBLIC else (),
        grants=frozenset({Grant.READ_PUBLIC}) if credential_class is CredentialClass.ASSISTANT else frozenset(),
    )
    await store.create(credential, a_change())
    return a_token(credential, secret=secret)
