"""Credentials on the wire: what admins send and what they are shown."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, Field

from shared.domain.credential_rules import MAX_ALLOWED_PROVIDERS
from shared.domain.credentials import MAX_ORIGINS_PER_CREDENTIAL, Credential, CredentialStatus
from shared.domain.exposure import CredentialClass, Grant
from shared.web.fields import Fixed, Name, unset
from shared.web.moments import moment, moment_or_none
from shared.web.provider_fields import Warnings, warnings_for
from shared.web.shown import Shown
from shared.web.wire import AdminModel

_LAST_YEAR = 9000


def _within_calendar(value: datetime) -> datetime:
    if value.year > _LAST_YEAR:
        raise ValueError("This moment is too far away")
    return value


Grants = Annotated[
    tuple[Grant, ...], Field(max_length=10, description="Refused with 409 where the class may never hold one.")
]
Origins = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=300)], ...],
    Field(
        max_length=MAX_ORIGINS_PER_CREDENTIAL,
        description="Class pub: exact origins, at least one. Never `null`, no wildcards.",
        examples=[["https://help.example.com"]],
    ),
]
AllowedProviders = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=40)], ...],
    Field(max_length=MAX_ALLOWED_PROVIDERS, description="Class agt: narrows what it may reach. null = no narrowing."),
]
Rate = Annotated[int, Field(ge=1, le=100_000, description="Requests a minute.")]
AddressRate = Annotated[int, Field(ge=1, le=10_000, description="Class pub: requests a minute of one caller address.")]
Expiry = Annotated[AwareDatetime, AfterValidator(_within_calendar), Field(description="In the future. null = never.")]


class CredentialCreate(AdminModel):
    """`class`: adm administers, agt is a trusted human's tool, ast an assistant, pub a website's widget."""

    credential_class: CredentialClass = Field(alias="class")
    name: Name
    grants: Grants = ()
    origins: Origins = ()
    allowed_providers: AllowedProviders | None = None
    rate_per_minute: Rate | None = None
    address_rate_per_minute: AddressRate | None = None
    expires_at: Expiry | None = None


class CredentialPatch(AdminModel):
    """What is to change; everything left out stays. Root takes `status` alone."""

    name: Name = Field(default_factory=unset)
    status: CredentialStatus = Field(default_factory=unset)
    grants: Grants = Field(default_factory=unset)
    origins: Origins = Field(default_factory=unset)
    allowed_providers: AllowedProviders | None = None
    rate_per_minute: Rate = Field(default_factory=unset)
    address_rate_per_minute: AddressRate = Field(default_factory=unset)
    expires_at: Expiry | None = None
    credential_class: Fixed = Field(alias="class", default_factory=unset)

    def changes(self) -> dict[str, Any]:
        """The fields that were sent, by their Python names, as domain values."""
        sent: dict[str, Any] = {name: getattr(self, name) for name in self.model_fields_set}
        if sent.get("expires_at") is not None:
            sent["expires_at"] = sent["expires_at"].timestamp()
        return sent


class CredentialShown(Shown):
    """`origins` and `addressRatePerMinute` are null but for class pub. Root's secret is kept elsewhere."""

    id: str = Field(examples=["k3j5mq2x7a4bwz6t"])
    credential_class: CredentialClass = Field(alias="class")
    name: str
    status: CredentialStatus
    grants: tuple[Grant, ...]
    origins: tuple[str, ...] | None
    allowed_providers: tuple[str, ...] | None
    rate_per_minute: int
    address_rate_per_minute: int | None
    expires_at: str | None = Field(json_schema_extra={"format": "date-time"})
    generation: int = Field(description="Grows with every change; the ETag is this number in quotes.")
    secret_fingerprint: str | None = Field(description="The first 16 hex digits of the token secret's SHA-256.")
    created_at: str | None = Field(json_schema_extra={"format": "date-time"})
    updated_at: str | None = Field(json_schema_extra={"format": "date-time"})

    @classmethod
    def of(cls, credential: Credential) -> CredentialShown:
        return cls(**fields_of(credential))


class CredentialWithToken(CredentialShown):
    """The one answer that carries the token. A repetition of the request has null and a warning instead."""

    token: str | None = Field(repr=False)
    warnings: Warnings

    @classmethod
    def with_token(cls, credential: Credential, token: str | None) -> CredentialWithToken:
        return cls(**fields_of(credential), token=token, warnings=warnings_for(token))


class CredentialPage(Shown):
    """`nextCursor` is null on the last page."""

    credentials: tuple[CredentialShown, ...]
    next_cursor: str | None


def fields_of(credential: Credential) -> dict[str, Any]:
    """Everything that may be shown of a credential."""
    is_widget = credential.credential_class is CredentialClass.PUBLIC
    return {
        "id": credential.id,
        "credential_class": credential.credential_class,
        "name": credential.name,
        "status": credential.status,
        "grants": tuple(sorted(credential.grants)),
        "origins": credential.origins if is_widget else None,
        "allowed_providers": credential.allowed_providers,
        "rate_per_minute": credential.rate_per_minute,
        "address_rate_per_minute": credential.address_rate_per_minute if is_widget else None,
        "expires_at": moment_or_none(credential.expires_at),
        "generation": credential.generation,
        "secret_fingerprint": credential.fingerprint or None,
        "created_at": moment(credential.created_at) if credential.created_at else None,
        "updated_at": moment(credential.updated_at) if credential.updated_at else None,
    }
