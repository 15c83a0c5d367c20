"""Registers a server that implements Dify's External Knowledge API, once a real search there has succeeded."""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.domain.bindings import DifyExternalConfig
from shared.domain.credentials import Principal
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import new_provider_id
from shared.domain.instance_rules import Acknowledgement, Clear, CredentialMutation, check_public_only
from shared.domain.instances import Risk
from shared.domain.once import Once
from shared.domain.preconditions import existing
from shared.domain.private_authorities import checked_authority
from shared.domain.registrations import Link, Provider, ProviderKind, ProviderStatus, Source
from shared.ports.clock import Clock
from shared.ports.registry import Registry
from shared.services.create_provider import CreateProvider
from shared.services.place_server import Place, PlaceServer
from shared.services.prove_server import ProveServer
from shared.services.replay import Replay
from shared.services.seal_credential import SealCredential


@dataclass(frozen=True, slots=True, kw_only=True)
class NewExternal:
    """What an operator says about such a server. It has an address and a credential of its own."""

    name: str
    exposure_profile: ExposureProfile
    base_url: str
    config: DifyExternalConfig
    test_query: str
    credential: CredentialMutation = field(default_factory=Clear)
    acknowledge: Acknowledgement | None = None
    private_authority: str | None = field(default=None, repr=False)
    module: str | None = None
    priority: int = 100


class RegisterExternal:
    """It is tried at once, as bindings are: unlike a signing secret, its credential exists before it is registered."""

    def __init__(
        self,
        *,
        registry: Registry,
        place: PlaceServer,
        seal: SealCredential,
        prove: ProveServer,
        create: CreateProvider,
        replay: Replay,
        clock: Clock,
    ) -> None:
        self._registry = registry
        self._place = place
        self._seal = seal
        self._prove = prove
        self._create = create
        self._replay = replay
        self._clock = clock

    async def __call__(self, wanted: NewExternal, *, by: Principal, once: Once | None) -> Provider:
        """The provider, active. A repetition shows it as it is, and asks the server nothing.

        Raises `Invalid`, `Conflict`, `Unavailable`.
        """
        if (earlier := await self._replay.find(once)) is not None:
            return existing(await self._registry.get(earlier))
        check_public_only(wanted.exposure_profile, stated=wanted.config.reaches_public_only)
        authority = None if wanted.private_authority is None else checked_authority(wanted.private_authority)
        place = await self._place(wanted.base_url, form=as_it_is, given=wanted.acknowledge)
        draft = self._draft(wanted, place)
        sealed = await self._seal(wanted.credential, owner_id=draft.id, profile=wanted.exposure_profile)
        link = Link(
            owner_id=draft.id,
            credential=sealed.credential,
            allow_plain_http=Risk.PLAIN_HTTP in place.risks,
            private_authority=authority,
        )
        proven = await self._prove.other(draft.with_source(link=link), wanted.test_query)
        return await self._create(proven, credential_key=sealed.key, by=by, once=once)

    def _draft(self, wanted: NewExternal, place: Place) -> Provider:
        now = self._clock.now()
        source = Source(
            id=new_provider_id(wanted.exposure_profile),
            name=wanted.name,
            kind=ProviderKind.DIFY_EXTERNAL,
            base_url=place.base_url,
            generation=1,
            priority=wanted.priority,
            allow_private_network=Risk.PRIVATE_NETWORK in place.risks,
            config=wanted.config,
            created_at=now,
        )
        return Provider(
            source=source,
            exposure_profile=wanted.exposure_profile,
            status=ProviderStatus.ACTIVE,
            needs_test=True,
            module=wanted.module,
            updated_at=now,
        )


def as_it_is(base_url: str) -> str:
    """The interface prescribes no form: `/retrieval` is appended to whatever was given."""
    return base_url
