"""Registers a self-hosted server. Nothing is sent to it: that is what its test is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shared.domain.credentials import Principal
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import new_instance_id
from shared.domain.instance_rules import Acknowledgement, Clear, CredentialMutation, check_public_only
from shared.domain.instances import Instance
from shared.domain.once import Once
from shared.domain.preconditions import existing
from shared.domain.private_authorities import checked_authority
from shared.domain.registrations import ProviderKind
from shared.errors import Conflict
from shared.ports.clock import Clock
from shared.ports.instances import Instances
from shared.ports.knowledge_server import KnowledgeServer
from shared.services.change_instance import ChangeInstance
from shared.services.place_server import PlaceServer
from shared.services.replay import Replay
from shared.services.seal_credential import SealCredential


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInstance:
    """What an operator says about a server that is to be registered. `kind` is one of `INSTANCE_KINDS`."""

    name: str
    kind: ProviderKind
    exposure_profile: ExposureProfile
    base_url: str
    credential: CredentialMutation = field(default_factory=Clear)
    acknowledge: Acknowledgement | None = None
    reaches_public_only: bool = False
    private_authority: str | None = field(default=None, repr=False)


class RegisterInstance:
    def __init__(
        self,
        *,
        instances: Instances,
        servers: Mapping[ProviderKind, KnowledgeServer],
        place: PlaceServer,
        seal: SealCredential,
        change: ChangeInstance,
        replay: Replay,
        clock: Clock,
    ) -> None:
        self._instances = instances
        self._servers = servers
        self._place = place
        self._seal = seal
        self._change = change
        self._replay = replay
        self._clock = clock

    async def __call__(self, wanted: NewInstance, *, by: Principal, once: Once | None) -> Instance:
        """Raises `Invalid`, `Conflict`, `Unavailable`."""
        if (earlier := await self._replay.find(once)) is not None:
            return existing(await self._instances.get(earlier))
        instance, credential_key = await self._made(wanted)
        try:
            await self._change.create(instance, credential_key=credential_key, by=by, once=once)
        except Conflict:
            # A twin of this very request may have won the race.
            if (earlier := await self._replay.find(once)) is None:
                raise
            return existing(await self._instances.get(earlier))
        return instance

    async def _made(self, wanted: NewInstance) -> tuple[Instance, str | None]:
        check_public_only(wanted.exposure_profile, stated=wanted.reaches_public_only)
        authority = None if wanted.private_authority is None else checked_authority(wanted.private_authority)
        place = await self._place(wanted.base_url, form=self._servers[wanted.kind].at, given=wanted.acknowledge)
        instance_id, now = new_instance_id(wanted.exposure_profile), self._clock.now()
        sealed = await self._seal(wanted.credential, owner_id=instance_id, profile=wanted.exposure_profile)
        instance = Instance(
            id=instance_id,
            name=wanted.name,
            kind=wanted.kind,
            exposure_profile=wanted.exposure_profile,
            base_url=place.base_url,
            generation=1,
            credential=sealed.credential,
            acknowledged=place.risks,
            reaches_public_only=wanted.reaches_public_only,
            private_authority=authority,
            created_at=now,
            updated_at=now,
        )
        return instance, sealed.key
