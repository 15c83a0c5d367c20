"""Registers a provider and makes its signing secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shared.domain.credentials import Principal
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import new_provider_id, new_signing_secret
from shared.domain.live_configs import ENDPOINTS
from shared.domain.once import Once
from shared.domain.preconditions import existing
from shared.domain.registration_rules import check_conversation_id, check_exposure, check_private_network
from shared.domain.registrations import Capabilities, Provider, ProviderConfig, ProviderKind, Source
from shared.ports.clock import Clock
from shared.ports.registry import Registry
from shared.ports.secret_box import Sealer
from shared.services.check_address import CheckAddress
from shared.services.create_provider import CreateProvider
from shared.services.replay import Replay


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProvider:
    """What an operator says about a provider, speaking the contract, that is to be registered."""

    name: str
    exposure_profile: ExposureProfile
    base_url: str
    allow_private_network: bool = False
    send_conversation_id: bool = False
    module: str | None = None
    priority: int = 100
    capabilities: Capabilities = field(default_factory=Capabilities)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLiveProvider:
    """What an operator says about a hosted live service. Where it is, is no matter of the registration."""

    name: str
    kind: ProviderKind
    exposure_profile: ExposureProfile
    config: ProviderConfig
    module: str | None = None
    priority: int = 100


@dataclass(frozen=True, slots=True)
class Registered:
    """`secret` is None for a kind that has none, and when the request was a repetition: a secret is shown once."""

    provider: Provider
    secret: str | None = field(repr=False)


class Register:
    """A new provider is disabled: one that signs has its secret from this answer on, and a test that it passes
    activates it.
    """

    def __init__(
        self,
        *,
        registry: Registry,
        sealers: Mapping[ExposureProfile, Sealer],
        check_address: CheckAddress,
        create: CreateProvider,
        replay: Replay,
        clock: Clock,
        private_network_available: bool,
    ) -> None:
        self._registry = registry
        self._sealers = sealers
        self._check_address = check_address
        self._create = create
        self._replay = replay
        self._clock = clock
        self._private_network_available = private_network_available

    async def __call__(self, wanted: NewProvider | NewLiveProvider, *, by: Principal, once: Once | None) -> Registered:
        """Raises `Invalid`, `Conflict`, `Unavailable`."""
        if (earlier := await self._replay.find(once)) is not None:
            return Registered(existing(await self._registry.get(earlier)), None)
        new = self._live(wanted) if isinstance(wanted, NewLiveProvider) else await self._signing(wanted)
        stored = await self._create(new.provider, credential_key=None, by=by, once=once)
        return new if stored is new.provider else Registered(stored, None)  # a twin of this very request was first

    async def _signing(self, wanted: NewProvider) -> Registered:
        check_conversation_id(wanted.exposure_profile, send_conversation_id=wanted.send_conversation_id)
        check_private_network(wanted=wanted.allow_private_network, available=self._private_network_available)
        base_url = await self._check_address(wanted.base_url, allow_private_network=wanted.allow_private_network)
        provider_id, secret, now = new_provider_id(wanted.exposure_profile), new_signing_secret(), self._clock.now()
        sealer = self._sealers[wanted.exposure_profile]
        source = Source(
            id=provider_id,
            name=wanted.name,
            kind=ProviderKind.CONTRACT,
            base_url=base_url,
            generation=1,
            priority=wanted.priority,
            capabilities=wanted.capabilities,
            allow_private_network=wanted.allow_private_network,
            signing=await sealer.seal(secret, owner_id=provider_id, purpose="signing"),
            created_at=now,
        )
        provider = Provider(
            source=source,
            exposure_profile=wanted.exposure_profile,
            needs_test=True,
            send_conversation_id=wanted.send_conversation_id,
            module=wanted.module,
            updated_at=now,
        )
        return Registered(provider, secret)

    def _live(self, wanted: NewLiveProvider) -> Registered:
        check_exposure(wanted.kind, wanted.exposure_profile)
        self._check_address.sources(wanted.config)
        now = self._clock.now()
        source = Source(
            id=new_provider_id(wanted.exposure_profile),
            name=wanted.name,
            kind=wanted.kind,
            base_url=ENDPOINTS[wanted.kind],
            generation=1,
            priority=wanted.priority,
            config=wanted.config,
            created_at=now,
        )
        provider = Provider(
            source=source,
            exposure_profile=wanted.exposure_profile,
            needs_test=True,
            module=wanted.module,
            updated_at=now,
        )
        return Registered(provider, None)
