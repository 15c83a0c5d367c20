"""Binds a provider to one knowledge base on a self-hosted server, once a real search there has succeeded."""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.domain.bindings import PRODUCT_OF, Binding, CommonConfig, ProductConfig
from shared.domain.credentials import Principal
from shared.domain.identifiers import new_provider_id
from shared.domain.instances import Instance
from shared.domain.once import Once
from shared.domain.preconditions import existing
from shared.domain.registrations import Provider, ProviderKind, ProviderStatus, Source
from shared.errors import Conflict, Invalid, Violation
from shared.ports.clock import Clock
from shared.ports.instances import Instances
from shared.ports.registry import Registry
from shared.services.create_provider import CreateProvider
from shared.services.prove_server import ProveServer
from shared.services.replay import Replay


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBinding:
    """What an operator says about a knowledge base that is to be bound. Its exposure is the instance's."""

    name: str
    kind: ProviderKind
    instance_id: str
    remote_id: str
    product: ProductConfig
    test_query: str
    common: CommonConfig = field(default_factory=CommonConfig)
    module: str | None = None
    priority: int = 100


class Bind:
    def __init__(
        self,
        *,
        registry: Registry,
        instances: Instances,
        prove: ProveServer,
        create: CreateProvider,
        replay: Replay,
        clock: Clock,
    ) -> None:
        self._registry = registry
        self._instances = instances
        self._prove = prove
        self._create = create
        self._replay = replay
        self._clock = clock

    async def __call__(self, wanted: NewBinding, *, by: Principal, once: Once | None) -> Provider:
        """The provider, active. A repetition shows it as it is, and asks the server nothing.

        Raises `Invalid`, `Conflict` (`already_bound`, `test_failed`, `config_changed` where the instance was changed
        meanwhile), `Unavailable`.
        """
        if (earlier := await self._replay.find(once)) is not None:
            return existing(await self._registry.get(earlier))
        instance = self._fitting(wanted, await self._instances.get(wanted.instance_id))
        try:
            await self._check_free(instance, wanted.remote_id)
        except Conflict:
            # A twin of this very request may have won the race.
            if (earlier := await self._replay.find(once)) is None:
                raise
            return existing(await self._registry.get(earlier))
        proven = await self._proven(wanted, instance)
        return await self._create(proven, credential_key=None, by=by, once=once)

    async def _proven(self, wanted: NewBinding, instance: Instance) -> Provider:
        binding = Binding(
            instance_id=instance.id,
            remote_id=wanted.remote_id,
            remote_name=wanted.remote_id,
            product=wanted.product,
            common=wanted.common,
        )
        return await self._prove.binding(self._draft(wanted, instance), binding, wanted.test_query, instance=instance)

    def _fitting(self, wanted: NewBinding, instance: Instance | None) -> Instance:
        if instance is None:
            raise _wrong("/instanceId", "There is no instance with this id.")
        if instance.kind is not wanted.kind or not isinstance(wanted.product, PRODUCT_OF[instance.kind]):
            raise _wrong("/kind", f"The instance is of kind {instance.kind}.")
        return instance

    async def _check_free(self, instance: Instance, remote_id: str) -> None:
        """An early word, before the server is asked: the write itself checks it too."""
        bound = (each.source.config for each in await self._instances.bindings(instance.id))
        if any(isinstance(config, Binding) and config.remote_id == remote_id for config in bound):
            raise Conflict("This knowledge base of this instance is bound already.", code="already_bound")

    def _draft(self, wanted: NewBinding, instance: Instance) -> Provider:
        now = self._clock.now()
        source = Source(
            id=new_provider_id(instance.exposure_profile),
            name=wanted.name,
            kind=wanted.kind,
            base_url=instance.base_url,
            generation=1,
            priority=wanted.priority,
            created_at=now,
        )
        return Provider(
            source=source,
            exposure_profile=instance.exposure_profile,
            status=ProviderStatus.ACTIVE,
            needs_test=True,
            module=wanted.module,
            updated_at=now,
        )


def _wrong(pointer: str, detail: str) -> Invalid:
    return Invalid("Correct the fields named in `errors`.", violations=(Violation(pointer, detail),))
