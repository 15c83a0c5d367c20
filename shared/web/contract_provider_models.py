"""Providers that speak the contract, on the wire."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field

from shared.domain.exposure import ExposureProfile
from shared.domain.registrations import Capabilities, Provider, ProviderKind, ProviderStatus
from shared.domain.rotation import DEFAULT_WINDOW_HOURS, MAX_WINDOW_HOURS
from shared.domain.urls import MAX_URL_CHARACTERS
from shared.web.fields import Fixed, Name, unset
from shared.web.moments import moment
from shared.web.provider_fields import (
    Generation,
    Module,
    Moment,
    Priority,
    Status,
    StatusReasonShown,
    Switch,
    Warnings,
    status_shown,
    warnings_for,
)
from shared.web.shown import Shown
from shared.web.wire import AdminModel

BaseUrl = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_URL_CHARACTERS,
        description="An https URL; `/retrieve` and `/capabilities` are appended to it.",
        examples=["https://kb.example.com/v1"],
    ),
]


class CapabilitiesModel(AdminModel):
    """What a provider declares beyond the minimum. Anything absent is false."""

    semantic_search: bool = False
    locale: bool = False
    locale_fallback: bool = False
    freshness: bool = False
    translation_groups: bool = False
    chunking: bool = False
    scoring: bool = False
    citation_url: bool = False

    @classmethod
    def of(cls, capabilities: Capabilities) -> CapabilitiesModel:
        return cls(**asdict(capabilities))

    def known(self) -> Capabilities:
        return Capabilities(**self.model_dump())


class ContractCreate(AdminModel):
    """A provider to be registered. It starts disabled; a test with `activate: true` turns it on."""

    name: Name
    kind: Literal[ProviderKind.CONTRACT] = ProviderKind.CONTRACT
    exposure_profile: ExposureProfile = Field(description="How far its passages may travel. Fixed for ever.")
    base_url: BaseUrl
    allow_private_network: bool = Field(
        default=False, description="Permits private (RFC 1918, fc00::/7) addresses; needs the deployment's VPC option."
    )
    send_conversation_id: bool = Field(default=False, description="For agent_only providers alone.")
    module: Module | None = None
    priority: Priority = 100
    capabilities: CapabilitiesModel = Field(default_factory=CapabilitiesModel)


class ContractPatch(AdminModel):
    """What is to change; everything left out stays. `module: null` removes it."""

    name: Name = Field(default_factory=unset)
    base_url: BaseUrl = Field(default_factory=unset)
    priority: Priority = Field(default_factory=unset)
    status: Switch = Field(default_factory=unset)
    allow_private_network: bool = Field(default_factory=unset)
    send_conversation_id: bool = Field(default_factory=unset)
    module: Module | None = None
    capabilities: CapabilitiesModel = Field(default_factory=unset)
    exposure_profile: Fixed
    kind: Fixed

    def changes(self) -> dict[str, Any]:
        """The fields that were sent, by their Python names, as domain values."""
        sent: dict[str, Any] = {name: getattr(self, name) for name in self.model_fields_set}
        if "status" in sent:
            sent["status"] = ProviderStatus(self.status)
        if "capabilities" in sent:
            sent["capabilities"] = self.capabilities.known()
        return sent


class SecretRotate(AdminModel):
    window_hours: int = Field(
        default=DEFAULT_WINDOW_HOURS,
        ge=0,
        le=MAX_WINDOW_HOURS,
        description="How long both secrets sign; 0 drops the replaced one at once.",
    )
    replace_pending: bool = Field(default=False, description="Rotate although the previous window is still open.")


class RotationShown(Shown):
    """An open rotation window: both secrets sign until `until`."""

    previous_fingerprint: str
    until: Moment


class ContractShown(Shown):
    id: str = Field(examples=["cs_k3j5mq2x7a4bwz6t"])
    name: str
    kind: Literal[ProviderKind.CONTRACT]
    exposure_profile: ExposureProfile
    base_url: str
    allow_private_network: bool
    send_conversation_id: bool
    module: str | None
    capabilities: CapabilitiesModel
    contract_version: int
    priority: int
    status: Status
    status_reason: StatusReasonShown | None
    needs_test: bool = Field(
        description="Whether it stays disabled until a test with `activate: true` has passed: it is new, or it is "
        "customer_safe and has a new `baseUrl`."
    )
    generation: Generation
    secret_fingerprint: str | None = Field(description="The first 16 hex digits of the secret's SHA-256.")
    rotation: RotationShown | None
    created_at: Moment
    updated_at: Moment

    @classmethod
    def of(cls, provider: Provider, *, now: float) -> ContractShown:
        return cls(**fields_of(provider, now=now))


class ContractWithSecret(ContractShown):
    """The one answer that carries the signing secret. A repetition of the request has null and a warning instead."""

    secret: str | None = Field(repr=False)
    warnings: Warnings

    @classmethod
    def with_secret(cls, provider: Provider, secret: str | None, *, now: float) -> ContractWithSecret:
        return cls(**fields_of(provider, now=now), secret=secret, warnings=warnings_for(secret))


def fields_of(provider: Provider, *, now: float) -> dict[str, Any]:
    """Everything that may be shown of a registration."""
    source = provider.source
    return {
        "id": source.id,
        "name": source.name,
        "kind": source.kind,
        "exposure_profile": provider.exposure_profile,
        "base_url": source.base_url,
        "allow_private_network": source.allow_private_network,
        "send_conversation_id": provider.send_conversation_id,
        "module": provider.module,
        "capabilities": CapabilitiesModel.of(source.capabilities),
        "contract_version": source.contract_version,
        "priority": source.priority,
        **status_shown(provider),
        "needs_test": provider.needs_test,
        "generation": source.generation,
        "secret_fingerprint": source.signing.fingerprint if source.signing else None,
        "rotation": _rotation(provider, now=now),
        "created_at": moment(source.created_at),
        "updated_at": moment(provider.updated_at),
    }


def _rotation(provider: Provider, *, now: float) -> RotationShown | None:
    previous = provider.source.previous_secret_at(now)
    if previous is None:
        return None
    return RotationShown(
        previous_fingerprint=previous.fingerprint, until=moment(provider.source.signing_previous_until)
    )
