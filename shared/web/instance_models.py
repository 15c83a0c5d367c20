"""Self-hosted servers on the wire."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from shared.domain.exposure import ExposureProfile
from shared.domain.instances import Instance, InstanceKind, Risk
from shared.domain.registrations import ProviderKind
from shared.web.fields import Fixed, Name, unset
from shared.web.moments import moment
from shared.web.provider_fields import Generation, Moment
from shared.web.server_fields import (
    Acknowledge,
    AnyCredentialMutation,
    CredentialReplace,
    PrivateAuthority,
    PublicOnly,
    ServerUrl,
    fingerprint_shown,
)
from shared.web.shown import Shown
from shared.web.wire import AdminModel

Binds = Annotated[tuple[str, ...], Field(description="The providers that are bound to it, by ascending id.")]


class InstanceCreate(AdminModel):
    """A server to be registered. Nothing is sent to it before it is tested or something is bound to it. Without a
    `credential` none is sent.
    """

    name: Name
    kind: InstanceKind
    exposure_profile: ExposureProfile = Field(
        description="How far passages from here may travel. Fixed for ever; bindings inherit it."
    )
    base_url: ServerUrl
    credential: CredentialReplace | None = None
    acknowledge: Acknowledge | None = None
    credential_reaches_public_content_only: PublicOnly = False
    private_authority: PrivateAuthority | None = None


class InstancePatch(AdminModel):
    """What is to change; everything left out stays. `privateAuthority: null` removes it."""

    name: Name = Field(default_factory=unset)
    base_url: ServerUrl = Field(default_factory=unset)
    credential: AnyCredentialMutation = Field(default_factory=unset)
    acknowledge: Acknowledge = Field(default_factory=unset)
    credential_reaches_public_content_only: PublicOnly = Field(default_factory=unset)
    private_authority: PrivateAuthority | None = None
    exposure_profile: Fixed
    kind: Fixed

    def changes(self) -> dict[str, Any]:
        """The fields that were sent, by their names in the domain, as domain values."""
        return server_changes(self, self.model_fields_set)


class InstanceShown(Shown):
    id: str = Field(examples=["csi_k3j5mq2x7a4bwz6t"])
    name: str
    kind: InstanceKind
    exposure_profile: ExposureProfile
    base_url: str = Field(description="In the product's own form, which bindings are asked under.")
    credential_fingerprint: str | None = Field(
        description="The first 16 hex digits of the credential's SHA-256; null without one."
    )
    acknowledged: tuple[Risk, ...] = Field(description="The risks that were accepted for exactly this `baseUrl`.")
    credential_reaches_public_content_only: bool
    private_authority: str | None = Field(description="Certificates (PEM) that are believed for this server alone.")
    bindings: Binds
    generation: Generation
    created_at: Moment
    updated_at: Moment

    @classmethod
    def of(cls, instance: Instance) -> InstanceShown:
        return cls(
            id=instance.id,
            name=instance.name,
            kind=kind_of(instance),
            exposure_profile=instance.exposure_profile,
            base_url=instance.base_url,
            credential_fingerprint=fingerprint_shown(instance.credential),
            acknowledged=tuple(sorted(instance.acknowledged)),
            credential_reaches_public_content_only=instance.reaches_public_only,
            private_authority=instance.private_authority,
            bindings=tuple(sorted(instance.binding_ids)),
            generation=instance.generation,
            created_at=moment(instance.created_at),
            updated_at=moment(instance.updated_at),
        )


class InstancePage(Shown):
    """`nextCursor` is null on the last page."""

    instances: tuple[InstanceShown, ...]
    next_cursor: str | None


def kind_of(instance: Instance) -> InstanceKind:
    """Raises `ValueError` for a kind that no instance has."""
    match instance.kind:
        case ProviderKind.DIFY | ProviderKind.FASTGPT | ProviderKind.RAGFLOW:
            return instance.kind
    raise ValueError("kind")


def server_changes(body: AdminModel, sent: set[str]) -> dict[str, Any]:
    """What was sent of the fields of a server, under the names that services know."""
    changes: dict[str, Any] = {name: getattr(body, name) for name in sent}
    if "credential_reaches_public_content_only" in changes:
        changes["reaches_public_only"] = changes.pop("credential_reaches_public_content_only")
    for name in ("credential", "acknowledge"):
        if name in changes:
            changes[name] = changes[name].known()
    return changes
