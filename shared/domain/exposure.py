"""Who may see what: exposure profiles of sources, egress classes of credentials, and the one table that joins them."""

from __future__ import annotations

from enum import StrEnum


class ExposureProfile(StrEnum):
    """How far what a source returns may travel. Fixed when the source is registered."""

    CUSTOMER_SAFE = "customer_safe"
    AGENT_ONLY = "agent_only"


class EgressClass(StrEnum):
    """Where an answer can end up. A property of the credential, never of a request."""

    CUSTOMER = "customer"
    AGENT = "agent"


class CredentialClass(StrEnum):
    """The four kinds of credential; the value is the class part of a token (`kg_<class>_<id>_<secret>`)."""

    ADMIN = "adm"
    AGENT = "agt"
    ASSISTANT = "ast"
    PUBLIC = "pub"


class Grant(StrEnum):
    """What a credential may be granted beyond its class."""

    READ_PUBLIC = "knowledge:read_public"
    READ_INTERNAL = "knowledge:read_internal"
    EXTERNAL_KNOWLEDGE_AGENT = "external_knowledge:agent"


class Audience(StrEnum):
    """A provider's own label of one result. A tripwire, never an authorisation."""

    PUBLIC = "public"
    INTERNAL = "internal"


# The grants that an operator can give, by class. `knowledge:read_internal` is a word that appears in no row:
# every assistant can produce customer-directed output, so none may hold it.
GRANTABLE: dict[CredentialClass, frozenset[Grant]] = {
    CredentialClass.ADMIN: frozenset(),
    CredentialClass.AGENT: frozenset({Grant.EXTERNAL_KNOWLEDGE_AGENT}),
    CredentialClass.ASSISTANT: frozenset({Grant.READ_PUBLIC}),
    CredentialClass.PUBLIC: frozenset(),
}

EGRESS: dict[CredentialClass, EgressClass] = {
    CredentialClass.AGENT: EgressClass.AGENT,
    CredentialClass.ASSISTANT: EgressClass.CUSTOMER,
    CredentialClass.PUBLIC: EgressClass.CUSTOMER,
}


def may_keep(profile: ExposureProfile, audience: Audience) -> bool:
    """Whether a result with this label may be kept from a source of this profile."""
    return profile is ExposureProfile.AGENT_ONLY or audience is Audience.PUBLIC
