"""Fields that self-hosted servers have on the wire, whether they are instances or stand alone."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, WithJsonSchema

from shared.domain.instance_rules import Acknowledgement, Clear, CredentialMutation, Keep, Replace
from shared.domain.instances import Risk
from shared.domain.private_authorities import MAX_AUTHORITY_CHARACTERS
from shared.domain.registrations import SealedSecret
from shared.domain.urls import MAX_URL_CHARACTERS
from shared.web.search_fields import SentText
from shared.web.wire import WireModel

MAX_CREDENTIAL_CHARACTERS = 2_048


def _credential(text: str) -> str:
    """What can stand in a header, without the white space that comes along when one is copied."""
    bare = text.strip()
    if not bare or not (bare.isascii() and bare.isprintable()) or " " in bare:
        raise ValueError("A credential has printable ASCII characters and no spaces")
    return bare


ServerUrl = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_URL_CHARACTERS,
        description="Where the server is: https, or http with an acknowledgement.",
        examples=["https://dify.example.com/v1"],
    ),
]
CredentialValue = Annotated[
    str,
    AfterValidator(_credential),
    Field(repr=False),
    WithJsonSchema(
        {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_CREDENTIAL_CHARACTERS,
            "writeOnly": True,
            "description": "Sealed at once and shown nowhere; later answers have its fingerprint.",
        }
    ),
]
PublicOnly = Annotated[
    bool,
    Field(
        description="States that this credential reaches public content alone. Needed, as `true`, with every "
        "credential and every base URL of what is customer_safe, also where the credential is cleared; it is audited."
    ),
]
PrivateAuthority = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_AUTHORITY_CHARACTERS,
        description="Certificates (PEM) that are believed for this server beside the public authorities. Certificates "
        "are always verified.",
    ),
]
TestQuery = Annotated[
    str,
    Field(
        min_length=1,
        max_length=4_000,
        description="Asked for real, once, before anything is saved; the server may bill and log it. dify takes at "
        "most 250 characters.",
        examples=["night ferry"],
    ),
    SentText,
]


class CredentialReplace(WireModel):
    action: Literal["replace"]
    value: CredentialValue = Field(max_length=MAX_CREDENTIAL_CHARACTERS)

    def known(self) -> CredentialMutation:
        return Replace(self.value)


class CredentialKeep(WireModel):
    action: Literal["keep"]

    def known(self) -> CredentialMutation:
        return Keep()


class CredentialClear(WireModel):
    """From then on none is sent."""

    action: Literal["clear"]

    def known(self) -> CredentialMutation:
        return Clear()


AnyCredentialMutation: TypeAlias = Annotated[
    CredentialKeep | CredentialReplace | CredentialClear, Field(discriminator="action")
]


class Acknowledge(WireModel):
    """Accepts what is risky about exactly this base URL, in its normal form: a refusal names both."""

    url: str = Field(min_length=1, max_length=MAX_URL_CHARACTERS)
    risks: frozenset[Risk] = Field(
        min_length=1,
        description="`plain_http`: credential and passages can be read on the way. `private_network`: the server has a "
        "private address; the deployment needs its VPC option for that.",
    )

    def known(self) -> Acknowledgement:
        return Acknowledgement(url=self.url, risks=self.risks)


def created_credential(given: CredentialReplace | None) -> CredentialMutation:
    return Clear() if given is None else given.known()


def fingerprint_shown(credential: SealedSecret | None) -> str | None:
    return None if credential is None else credential.fingerprint
