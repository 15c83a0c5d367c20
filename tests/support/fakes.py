"""Stand-ins for the adapters, in memory. The suites in `tests/contract` hold them to the same promises.

Every fake has `failure`: set it to an error and every call raises that error until it is None again.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from shared.domain.audit import AUDIT_RETENTION_S, AuditEntry
from shared.domain.changes import Change, IdempotencyRecord
from shared.domain.credentials import Credential
from shared.domain.exposure import CredentialClass, ExposureProfile
from shared.domain.identifiers import exposure_of, fingerprint_of
from shared.domain.instances import Instance
from shared.domain.live_configs import CONFIG_OF
from shared.domain.names import name_key
from shared.domain.pages import Page
from shared.domain.registrations import (
    LIVE_KINDS,
    MAX_PROVIDERS_PER_EXPOSURE,
    SERVER_KINDS,
    CustomerSource,
    Provider,
    ProviderStatus,
    Purpose,
    SealedSecret,
)
from shared.domain.root import RootSwitch
from shared.errors import Conflict, NotFound, PreconditionFailed, Problem, Unavailable
from tests.support.builders import NOW
from tests.support.fake_links import CredentialOwners, check_instance, check_target

T = TypeVar("T")


class FakeClock:
    """Stands still until `advance`, which moves both readings together, or `step`, which moves each by itself."""

    def __init__(self, now: float = NOW) -> None:
        self._now = now
        self._monotonic = 1_000.0

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, seconds: float) -> None:
        self.step(wall=seconds, monotonic=seconds)

    def step(self, *, wall: float = 0.0, monotonic: float = 0.0) -> None:
        self._now += wall
        self._monotonic += monotonic


class Failing:
    """What every fake has in common."""

    failure: Problem | None = None

    def _may_fail(self) -> None:
        if self.failure is not None:
            raise self.failure


@dataclass
class FakeStore:
    """What the registry, the instances, the credential store, the audit log and the idempotency records share."""

    clock: FakeClock = field(default_factory=FakeClock)
    registrations: dict[str, Provider] = field(default_factory=dict)
    credentials: dict[str, Credential] = field(default_factory=dict)
    audit: dict[str, AuditEntry] = field(default_factory=dict)
    idempotency: dict[str, IdempotencyRecord] = field(default_factory=dict)
    root: RootSwitch = field(default_factory=RootSwitch)
    instances: dict[str, Instance] = field(default_factory=dict)
    credential_owners: CredentialOwners = field(default_factory=CredentialOwners)

    def check_idempotency(self, change: Change) -> None:
        """An expired record counts as absent."""
        record = change.idempotency
        if record and (known := self.idempotency.get(record.key)) and known.expires_at > self.clock.now():
            raise Conflict("This idempotency key was used before.", code="idempotency_key_used")

    def note(self, change: Change) -> None:
        self.audit[change.audit.id] = change.audit
        if change.idempotency:
            self.idempotency[change.idempotency.key] = change.idempotency

    def customer_sources(self) -> Iterable[CustomerSource]:
        """A live view for `FakeCustomerCatalog`."""
        return _Live(self._customer_sources)

    def internal_providers(self) -> Iterable[Provider]:
        """A live view for a `FakeCatalog` that knows agent_only registrations alone, and no servers."""
        return _Live(self._internal_providers)

    def internal_credentials(self) -> Iterable[Credential]:
        """A live view for `FakeCredentials`: all but the widgets'."""
        return _Live(lambda: (one for one in self.credentials.values() if not _is_widget(one)))

    def widget_credentials(self) -> Iterable[Credential]:
        return _Live(lambda: (one for one in self.credentials.values() if _is_widget(one)))

    def _internal_providers(self) -> Iterator[Provider]:
        for provider in self.registrations.values():
            is_internal = provider.exposure_profile is ExposureProfile.AGENT_ONLY
            if is_internal and provider.source.kind not in SERVER_KINDS:
                yield provider

    def _customer_sources(self) -> Iterator[CustomerSource]:
        for provider in self.registrations.values():
            is_safe = provider.exposure_profile is ExposureProfile.CUSTOMER_SAFE
            if is_safe and provider.status is ProviderStatus.ACTIVE:
                yield CustomerSource(provider.source)


class _Live(Iterable[T]):
    """Iterates over what there is each time it is asked."""

    def __init__(self, now: Callable[[], Iterator[T]]) -> None:
        self._now = now

    def __iter__(self) -> Iterator[T]:
        return self._now()


def _is_widget(credential: Credential) -> bool:
    return credential.credential_class is CredentialClass.PUBLIC


class FakeCatalog(Failing):
    """Keeps the collection that it is given: `FakeCatalog(store.registrations.values())` shows changes. With
    `has_moved`, a read finds that something changed before it fails.
    """

    has_moved = False

    def __init__(self, providers: Iterable[Provider] = ()) -> None:
        self.all = providers
        self._known: tuple[Provider, ...] | None = None

    async def providers(self) -> tuple[Provider, ...]:
        if self.has_moved:
            self._known = None
        self._may_fail()
        self._known = tuple(sorted(self.all, key=lambda provider: provider.source.registered))
        return self._known

    def last_known(self) -> tuple[Provider, ...] | None:
        return self._known


class FakeCustomerCatalog(Failing):
    """Keeps the collection that it is given, like `FakeCatalog`."""

    def __init__(self, sources: Iterable[CustomerSource] = ()) -> None:
        self.all = sources

    async def sources(self) -> tuple[CustomerSource, ...]:
        self._may_fail()
        return tuple(sorted(self.all, key=lambda one: one.source.registered))


class FakeCredentials(Failing):
    """Counts its reads in `reads`."""

    def __init__(self, credentials: Iterable[Credential] = ()) -> None:
        self.all = credentials
        self.reads = 0

    async def find(self, credential_id: str) -> Credential | None:
        self.reads += 1
        self._may_fail()
        return next((one for one in self.all if one.id == credential_id), None)


class FakeOrigins(Failing):
    """Knows credentials (`FakeOrigins(store.credentials.values(), clock=clock)`) or plain origins."""

    def __init__(self, listed: Iterable[Credential | str] = (), *, clock: FakeClock | None = None) -> None:
        self.all = listed
        self._clock = clock or FakeClock()

    async def is_listed(self, origin: str) -> bool:
        self._may_fail()
        return any(self._lists(one, origin) for one in self.all)

    def _lists(self, one: Credential | str, origin: str) -> bool:
        if isinstance(one, str):
            return one == origin
        is_widget = one.credential_class is CredentialClass.PUBLIC
        return is_widget and one.is_usable_at(self._clock.now()) and origin in one.origins


class FakeRateLimits(Failing):
    """`counts` maps (subject, minute) to the number of requests."""

    def __init__(self, *, clock: FakeClock | None = None) -> None:
        self._clock = clock or FakeClock()
        self.counts: Counter[tuple[str, int]] = Counter()

    async def count(self, subject: str) -> int:
        self._may_fail()
        counter = (subject, int(self._clock.now() // 60))
        self.counts[counter] += 1
        return self.counts[counter]


class FakeRegistry(Failing):
    def __init__(self, store: FakeStore | None = None) -> None:
        self.store = store or FakeStore()

    async def get(self, provider_id: str) -> Provider | None:
        self._may_fail()
        return self.store.registrations.get(provider_id)

    async def page(self, *, limit: int, after: str | None) -> Page[Provider]:
        self._may_fail()
        return _ascending(self.store.registrations, limit=limit, after=after)

    async def create(self, provider: Provider, change: Change, *, credential_key: str | None = None) -> None:
        self._may_fail()
        _check_profile(provider)
        self.store.check_idempotency(change)
        if provider.id in self.store.registrations:
            raise Conflict("This id is taken.", code="id_taken")
        self._check_links(provider, credential_key)
        self._check_name(provider)
        of_profile = [p for p in self.store.registrations.values() if p.exposure_profile is provider.exposure_profile]
        if len(of_profile) >= MAX_PROVIDERS_PER_EXPOSURE:
            raise Conflict("There is no room for another.", code="provider_limit_reached")
        self._keep(provider, credential_key)
        self.store.note(change)

    async def replace(
        self, provider: Provider, *, expected_generation: int, change: Change, credential_key: str | None = None
    ) -> None:
        self._may_fail()
        _check_profile(provider)
        _check_next(provider.generation, expected_generation)
        self.store.check_idempotency(change)
        self._check_generation(provider.id, expected_generation)
        self._check_links(provider, credential_key)
        self._check_name(provider)
        self._keep(provider, credential_key)
        self.store.note(change)

    async def delete(self, provider: Provider, *, expected_generation: int, change: Change) -> None:
        self._may_fail()
        self.store.check_idempotency(change)
        self._check_generation(provider.id, expected_generation)
        del self.store.registrations[provider.id]
        self.store.credential_owners.settle(provider.id, None, has_credential=False)
        self.store.note(change)

    async def delete_unreadable(self, provider_id: str, *, change: Change) -> None:
        """Everything in memory can be read."""
        self._may_fail()
        self.store.check_idempotency(change)
        if provider_id in self.store.registrations:
            raise PreconditionFailed("It can be read.")
        raise NotFound("There is no such thing.")

    def _check_links(self, provider: Provider, credential_key: str | None) -> None:
        check_target(provider, self.store.registrations)
        check_instance(provider, self.store.registrations, self.store.instances)
        self.store.credential_owners.check(provider.id, credential_key, has_credential=_has_own_credential(provider))

    def _keep(self, provider: Provider, credential_key: str | None) -> None:
        has_own = _has_own_credential(provider)
        self.store.credential_owners.settle(provider.id, credential_key, has_credential=has_own)
        self.store.registrations[provider.id] = provider

    def _check_generation(self, provider_id: str, expected: int) -> None:
        stored = self.store.registrations.get(provider_id)
        _check_stored(stored.generation if stored else None, expected)

    def _check_name(self, provider: Provider) -> None:
        for other in self.store.registrations.values():
            same_profile = other.exposure_profile is provider.exposure_profile
            same_name = name_key(other.source.name) == name_key(provider.source.name)
            if other.id != provider.id and same_profile and same_name:
                raise Conflict("Another one has this name.", code="name_taken")


class FakeCredentialStore(Failing):
    def __init__(self, store: FakeStore | None = None) -> None:
        self.store = store or FakeStore()

    async def get(self, credential_id: str) -> Credential | None:
        self._may_fail()
        return self.store.credentials.get(credential_id)

    async def page(self, *, limit: int, after: str | None) -> Page[Credential]:
        self._may_fail()
        return _ascending(self.store.credentials, limit=limit, after=after)

    async def create(self, credential: Credential, change: Change) -> None:
        self._may_fail()
        self.store.check_idempotency(change)
        if credential.id in self.store.credentials:
            raise Conflict("This id is taken.", code="id_taken")
        self.store.credentials[credential.id] = credential
        self.store.note(change)

    async def replace(self, credential: Credential, *, expected_generation: int, change: Change) -> None:
        self._may_fail()
        _check_next(credential.generation, expected_generation)
        self.store.check_idempotency(change)
        stored = self._checked(credential.id, expected_generation)
        if stored.credential_class is not credential.credential_class:
            raise ValueError("a credential keeps its class")
        if not credential.is_lasting_admin:
            self._check_not_last(stored)
        self.store.credentials[credential.id] = credential
        self.store.note(change)

    async def delete(self, credential: Credential, *, expected_generation: int, change: Change) -> None:
        self._may_fail()
        self.store.check_idempotency(change)
        self._check_not_last(self._checked(credential.id, expected_generation))
        del self.store.credentials[credential.id]
        self.store.note(change)

    async def root_switch(self) -> RootSwitch:
        self._may_fail()
        return self.store.root

    async def switch_root(self, switch: RootSwitch, *, expected_generation: int, change: Change) -> None:
        self._may_fail()
        _check_next(switch.generation, expected_generation)
        self.store.check_idempotency(change)
        if not switch.is_on and not self._lasting_admins():
            raise _last_admin()
        _check_stored(self.store.root.generation, expected_generation)
        self.store.root = switch
        self.store.note(change)

    def _checked(self, credential_id: str, expected: int) -> Credential:
        stored = self.store.credentials.get(credential_id)
        _check_stored(stored.generation if stored else None, expected)
        assert stored is not None
        return stored

    def _check_not_last(self, leaving: Credential) -> None:
        if leaving.is_lasting_admin and not self.store.root.is_on and self._lasting_admins() == [leaving.id]:
            raise _last_admin()

    def _lasting_admins(self) -> list[str]:
        return [one.id for one in self.store.credentials.values() if one.is_lasting_admin]


class FakeAuditLog(Failing):
    def __init__(self, store: FakeStore | None = None) -> None:
        self.store = store or FakeStore()

    async def page(self, *, limit: int, after: str | None) -> Page[AuditEntry]:
        self._may_fail()
        kept = [e for e in self.store.audit.values() if math.ceil(e.at + AUDIT_RETENTION_S) > self.store.clock.now()]
        ids = sorted((e.id for e in kept if after is None or e.id < after), reverse=True)
        return _page(self.store.audit, ids, limit=limit)


class FakeIdempotency(Failing):
    def __init__(self, store: FakeStore | None = None) -> None:
        self.store = store or FakeStore()

    async def find(self, key: str) -> IdempotencyRecord | None:
        self._may_fail()
        record = self.store.idempotency.get(key)
        return record if record and record.expires_at > self.store.clock.now() else None


class FakeSealer(Failing):
    """Seals for reading by a `FakeUnsealer` of the same exposure."""

    def __init__(self, *, exposure: ExposureProfile = ExposureProfile.CUSTOMER_SAFE) -> None:
        self._exposure = exposure

    async def seal(self, plaintext: str, *, owner_id: str, purpose: Purpose) -> SealedSecret:
        self._may_fail()
        text = plaintext.strip()
        if not text:
            raise ValueError("a secret is never blank")
        box = [self._exposure.value, owner_id, purpose, text]
        return SealedSecret(ciphertext=json.dumps(box).encode(), fingerprint=fingerprint_of(text))


class FakeUnsealer(Failing):
    """Opens what a `FakeSealer` of the same exposure sealed for the same owner and purpose."""

    def __init__(self, *, exposure: ExposureProfile = ExposureProfile.CUSTOMER_SAFE) -> None:
        self._exposure = exposure

    async def unseal(self, sealed: SealedSecret, *, owner_id: str, purpose: Purpose) -> str:
        self._may_fail()
        try:
            *context, text = json.loads(sealed.ciphertext)
        except ValueError:
            context, text = [], ""
        if context != [self._exposure.value, owner_id, purpose]:
            raise Unavailable("A secret could not be opened.", code="secrets_unavailable", retry_after_s=5)
        return str(text)


class FakeRootSecret(Failing):
    def __init__(self, secret: str = "0a" * 32) -> None:
        self.secret = secret

    async def read(self) -> str:
        self._may_fail()
        return self.secret


def _last_admin() -> Conflict:
    return Conflict("Nobody could administer the gateway any more.", code="last_admin")


def _has_own_credential(provider: Provider) -> bool:
    link = provider.source.link
    return link is not None and link.owner_id == provider.id and link.credential is not None


def _check_profile(provider: Provider) -> None:
    if exposure_of(provider.id) is not provider.exposure_profile:
        raise ValueError("the id names another exposure profile")
    kind = provider.source.kind
    if kind in LIVE_KINDS and provider.exposure_profile is not ExposureProfile.AGENT_ONLY:
        raise ValueError("a live kind is agent_only")
    if kind in LIVE_KINDS and type(provider.source.config) is not CONFIG_OF[kind]:
        raise ValueError("a live kind has a config of its own")


def _check_next(generation: int, expected: int) -> None:
    if generation != expected + 1:
        raise ValueError("the generation must be the expected one plus one")


def _check_stored(stored: int | None, expected: int) -> None:
    if stored is None:
        raise NotFound("There is no such thing.")
    if stored != expected:
        raise PreconditionFailed("It has changed since it was read.")


def _ascending(things: dict[str, T], *, limit: int, after: str | None) -> Page[T]:
    return _page(things, sorted(key for key in things if after is None or key > after), limit=limit)


def _page(things: dict[str, T], ids: list[str], *, limit: int) -> Page[T]:
    shown = ids[:limit]
    return Page(tuple(things[key] for key in shown), next_after=shown[-1] if len(ids) > limit else None)
