"""Stand-ins for what is around self-hosted servers, in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from shared.domain.changes import Change
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of_instance
from shared.domain.instances import MAX_INSTANCES_PER_EXPOSURE, Instance
from shared.domain.names import name_key
from shared.domain.pages import Page
from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import Provider, ProviderStatus, Source
from shared.domain.remote_catalogs import CatalogPage, CatalogWish, RemoteEntry
from shared.errors import Conflict, ExchangeError, NotFound, PreconditionFailed, Refused
from shared.ports.exchange import Exchange
from shared.ports.retriever import RetrieverLimits
from tests.support.fake_links import bound_to
from tests.support.fakes import Failing, FakeStore


class FakeInstances(Failing):
    """Shares `store` with the other fakes: a changed instance shows in the providers that are bound to it."""

    def __init__(self, store: FakeStore | None = None) -> None:
        self.store = store or FakeStore()

    async def get(self, instance_id: str) -> Instance | None:
        self._may_fail()
        return self._as_stored(instance_id)

    async def page(self, *, limit: int, after: str | None) -> Page[Instance]:
        self._may_fail()
        ids = sorted(key for key in self.store.instances if after is None or key > after)
        shown = tuple(one for key in ids[:limit] if (one := self._as_stored(key)))
        return Page(shown, next_after=shown[-1].id if len(ids) > limit else None)

    async def bindings(self, instance_id: str) -> tuple[Provider, ...]:
        self._may_fail()
        return bound_to(instance_id, self.store.registrations)

    async def create(self, instance: Instance, change: Change, *, credential_key: str | None) -> None:
        self._may_fail()
        _check_profile(instance)
        self.store.check_idempotency(change)
        if instance.id in self.store.instances:
            raise Conflict("This id is taken.", code="id_taken")
        self._check_name(instance)
        if len(self._of_profile(instance.exposure_profile)) >= MAX_INSTANCES_PER_EXPOSURE:
            raise Conflict("There is no room for another.", code="instance_limit_reached")
        self._check_credential(instance, credential_key)
        self._keep(instance, credential_key)
        self.store.note(change)

    async def replace(
        self,
        instance: Instance,
        *,
        expected_generation: int,
        change: Change,
        credential_key: str | None,
        disable: frozenset[str] = frozenset(),
    ) -> None:
        self._may_fail()
        _check_profile(instance)
        if instance.generation != expected_generation + 1:
            raise ValueError("the generation must be the expected one plus one")
        self.store.check_idempotency(change)
        stored = self._expected(instance.id, expected_generation)
        self._check_name(instance)
        self._check_credential(instance, credential_key)
        if stored.binding_ids != instance.binding_ids:
            raise _busy()
        known = disable & self.store.registrations.keys()
        self.store.registrations.update({one: self._switched_off(one, now=instance.updated_at) for one in known})
        self._keep(instance, credential_key)
        self.store.note(change)

    async def delete(
        self,
        instance: Instance,
        *,
        expected_generation: int,
        change: Change,
        bindings: frozenset[str] = frozenset(),
    ) -> None:
        self._may_fail()
        self.store.check_idempotency(change)
        stored = self._expected(instance.id, expected_generation)
        if stored.binding_ids != bindings:
            raise _in_use(stored)
        for one in bindings:
            del self.store.registrations[one]
        del self.store.instances[instance.id]
        self.store.credential_owners.settle(instance.id, None, has_credential=False)
        self.store.note(change)

    async def delete_unreadable(
        self, instance_id: str, *, change: Change, bindings: frozenset[str] = frozenset()
    ) -> None:
        """Everything in memory can be read."""
        self._may_fail()
        self.store.check_idempotency(change)
        if instance_id in self.store.instances:
            raise PreconditionFailed("It can be read.")
        raise NotFound("There is no such thing.")

    def _as_stored(self, instance_id: str) -> Instance | None:
        instance = self.store.instances.get(instance_id)
        bound = bound_to(instance_id, self.store.registrations)
        return instance and replace(instance, binding_ids=frozenset(one.id for one in bound))

    def _keep(self, instance: Instance, credential_key: str | None) -> None:
        has_credential = instance.credential is not None
        self.store.credential_owners.settle(instance.id, credential_key, has_credential=has_credential)
        self.store.instances[instance.id] = instance
        for one in bound_to(instance.id, self.store.registrations):
            self.store.registrations[one.id] = replace(one, source=instance.at(one.source))

    def _check_credential(self, instance: Instance, key: str | None) -> None:
        self.store.credential_owners.check(instance.id, key, has_credential=instance.credential is not None)

    def _switched_off(self, provider_id: str, *, now: float) -> Provider:
        stored = self.store.registrations[provider_id]
        off = replace(stored, status=ProviderStatus.DISABLED, needs_test=True, updated_at=now)
        return off.with_source(generation=stored.generation + 1)

    def _expected(self, instance_id: str, generation: int) -> Instance:
        stored = self._as_stored(instance_id)
        if stored is None:
            raise NotFound("There is no such thing.")
        if stored.generation != generation:
            raise PreconditionFailed("It has changed since it was read.")
        return stored

    def _of_profile(self, profile: ExposureProfile) -> list[Instance]:
        return [one for one in self.store.instances.values() if one.exposure_profile is profile]

    def _check_name(self, instance: Instance) -> None:
        for other in self._of_profile(instance.exposure_profile):
            if other.id != instance.id and name_key(other.name) == name_key(instance.name):
                raise Conflict("Another one has this name.", code="name_taken")


class FakeCredentialKeys(Failing):
    async def key_of(self, *, credential: str) -> str:
        self._may_fail()
        return hashlib.sha256(credential.strip().encode()).hexdigest()


class ScriptedServer:
    """A self-hosted product that plays a script, and notes what it was asked and with which credential.

    `entries` is what it lists, `reported_version` what it says of itself; `acts[source id]`, an async function of the
    question, is what it finds. `failures` maps `retrieve`, `catalog`, `detail` or `version` to what that raises.
    """

    def __init__(self, *, query_characters: int = 1024, results: int = 20, timeout_s: float = 25.0) -> None:
        self.limits = RetrieverLimits(query_characters=query_characters, results=results, timeout_s=timeout_s)
        self.entries: Sequence[RemoteEntry] = ()
        self.page_size = 100
        self.reported_version: str | None = None
        self.acts: dict[str, Callable[[Question], Awaitable[Retrieval]]] = {}
        self.failures: dict[str, ExchangeError] = {}
        self.asked: list[tuple[Source, Question, str | None]] = []
        self.credentials: list[tuple[str, str | None]] = []

    def at(self, base_url: str) -> str:
        return base_url.removesuffix("/v1") + "/v1"

    async def retrieve(
        self, source: Source, question: Question, *, credential: str | None, exchange: Exchange
    ) -> Retrieval:
        self.asked.append((source, question, credential))
        self._note("retrieve", credential)
        act = self.acts.get(source.id)
        return await act(question) if act else Retrieval()

    async def catalog(
        self, base_url: str, wish: CatalogWish, *, credential: str | None, exchange: Exchange
    ) -> CatalogPage:
        self._note("catalog", credential)
        wanted = [one for one in self.entries if (wish.search or "").casefold() in one.name.casefold()]
        begin = (wish.page - 1) * self.page_size
        shown = tuple(wanted[begin : begin + self.page_size])
        has_more = len(wanted) > begin + self.page_size
        return CatalogPage(entries=shown, page=wish.page, has_more=has_more, total=len(wanted))

    async def detail(self, base_url: str, remote_id: str, *, credential: str | None, exchange: Exchange) -> RemoteEntry:
        self._note("detail", credential)
        for entry in self.entries:
            if entry.id == remote_id:
                return entry
        raise Refused("not_found")

    async def version(self, base_url: str, *, credential: str | None, exchange: Exchange) -> str | None:
        self._note("version", credential)
        return self.reported_version

    def _note(self, what: str, credential: str | None) -> None:
        self.credentials.append((what, credential))
        if what in self.failures:
            raise self.failures[what]


def _check_profile(instance: Instance) -> None:
    if exposure_of_instance(instance.id) is not instance.exposure_profile:
        raise ValueError("the id names another exposure profile")
    if instance.exposure_profile is ExposureProfile.CUSTOMER_SAFE and not instance.reaches_public_only:
        raise ValueError("a customer_safe instance reaches public content alone")


def _busy() -> Conflict:
    return Conflict("Others are changing the same things.", code="busy", retry_after_s=1)


def _in_use(stored: Instance) -> Conflict:
    return Conflict("It has bindings.", code="instance_in_use", facts={"bindings": sorted(stored.binding_ids)})
