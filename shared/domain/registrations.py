"""Registered providers, as the gateway knows them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from shared.domain.exposure import ExposureProfile
from shared.domain.outcomes import OutcomeCode

Purpose = Literal["signing", "signing_previous", "instance"]

MAX_PROVIDERS_PER_EXPOSURE = 200
MAX_PROVIDERS = MAX_PROVIDERS_PER_EXPOSURE * len(ExposureProfile)  # as many as one search may ask
CONTRACT_VERSION = 1


class ProviderKind(StrEnum):
    CONTRACT = "contract"
    CONTEXT7 = "context7"
    EXA = "exa"
    FIRECRAWL = "firecrawl"
    MINTLIFY = "mintlify"
    DEEPWIKI = "deepwiki"
    DIFY = "dify"
    FASTGPT = "fastgpt"
    RAGFLOW = "ragflow"
    DIFY_EXTERNAL = "dify_external"


# Servers that operators run themselves. Their audience comes from the registration: they label nothing.
SERVER_KINDS = frozenset({ProviderKind.DIFY, ProviderKind.FASTGPT, ProviderKind.RAGFLOW, ProviderKind.DIFY_EXTERNAL})
# Hosted services whose allowance, and mostly whose keys, cost the operator: for trusted people's tools alone.
LIVE_KINDS = frozenset(
    {
        ProviderKind.CONTEXT7,
        ProviderKind.EXA,
        ProviderKind.FIRECRAWL,
        ProviderKind.MINTLIFY,
        ProviderKind.DEEPWIKI,
    }
)


class ProviderStatus(StrEnum):
    ACTIVE = "active"
    DISABLED = "disabled"
    AUTO_DISABLED = "auto_disabled"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a provider declares beyond the minimum. Anything absent is false."""

    semantic_search: bool = False
    locale: bool = False
    locale_fallback: bool = False
    freshness: bool = False
    translation_groups: bool = False
    chunking: bool = False
    scoring: bool = False
    citation_url: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderConfig:
    """What only one kind of provider can be set to; each kind that has settings has a subclass of its own."""


@dataclass(frozen=True, slots=True)
class SealedSecret:
    """A secret as it lies in the store: ciphertext under the exposure's key, and what may be shown of it."""

    ciphertext: bytes = field(repr=False)
    fingerprint: str


@dataclass(frozen=True, slots=True)
class SigningSecrets:
    """Unsealed for one request, in memory alone. `previous` is set inside a rotation window."""

    current: str = field(repr=False)
    previous: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """How a self-hosted server is reached beyond its base URL. `owner_id` is whose credential it is: an instance's or
    the provider's own. `generation` is the instance's, as it was read (0 where there is no instance): a binding is
    written only while it is the current one. `allow_plain_http` was acknowledged for exactly this base URL.
    """

    owner_id: str
    generation: int = 0
    credential: SealedSecret | None = None
    allow_plain_http: bool = False
    private_authority: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """All that is needed to ask one provider, the same on every lane. Says nothing about other sources.

    `signing` is the contract's; `config` is what the other kinds have in its place.
    """

    id: str
    name: str
    kind: ProviderKind
    base_url: str
    generation: int
    priority: int = 100
    capabilities: Capabilities = field(default_factory=Capabilities)
    contract_version: int = CONTRACT_VERSION
    allow_private_network: bool = False
    signing: SealedSecret | None = None
    config: ProviderConfig | None = None
    link: Link | None = None
    signing_previous: SealedSecret | None = None
    signing_previous_until: float = 0.0
    created_at: float = 0.0

    @property
    def registered(self) -> tuple[float, str]:
        """What sources are in the order of their registration by; of one moment, it is their ids'."""
        return self.created_at, self.id

    def previous_secret_at(self, now: float) -> SealedSecret | None:
        """The secret that was replaced, while its rotation window is open. Expired ones are never used."""
        return self.signing_previous if self.signing_previous_until > now else None


@dataclass(frozen=True, slots=True)
class CustomerSource:
    """A source that the customer lane may ask.

    Built by the customer catalogue alone, out of a store that holds nothing but customer_safe registrations:
    having one in hand is the permission to ask it on a customer path.
    """

    source: Source


@dataclass(frozen=True, slots=True)
class StatusReason:
    """Why, and since when (Unix seconds), a provider is out of use that its operator has left on."""

    code: OutcomeCode | None
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One registration, whole: what to ask (`source`) and how an operator has set it. A `status` of `auto_disabled`,
    with its `status_reason`, is never stored: it is read off the circuits.
    """

    source: Source
    exposure_profile: ExposureProfile
    status: ProviderStatus = ProviderStatus.DISABLED
    status_reason: StatusReason | None = None
    send_conversation_id: bool = False
    needs_test: bool = False  # new, or answering from another address: off until a test has passed
    module: str | None = None
    updated_at: float = 0.0

    @property
    def id(self) -> str:
        return self.source.id

    @property
    def generation(self) -> int:
        return self.source.generation

    def with_source(self, **changes: object) -> Provider:
        """A copy whose source carries `changes` (field names of Source)."""
        return replace(self, source=replace(self.source, **changes))  # type: ignore[arg-type]  # names are checked by replace
