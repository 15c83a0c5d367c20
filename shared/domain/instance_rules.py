"""What an operator may set on a self-hosted server, beyond the shape of each field."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from shared.domain.addresses import Reach, reach_of
from shared.domain.exposure import ExposureProfile
from shared.domain.hosts import Host, is_under
from shared.domain.instances import Risk
from shared.domain.urls import destination_of
from shared.errors import Conflict, Invalid, Violation


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """What an operator accepts, and for which base URL: its exact normal form."""

    url: str
    risks: frozenset[Risk]


@dataclass(frozen=True, slots=True)
class Keep:
    """The credential stays as it is."""


@dataclass(frozen=True, slots=True)
class Replace:
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Clear:
    """There is no credential any more, and none is sent."""


CredentialMutation: TypeAlias = Keep | Replace | Clear


def apparent_risks(base_url: str) -> frozenset[Risk]:
    """What a checked base URL shows without a look-up. A loopback address, which the embedded default alone may dial,
    carries no risk: nothing leaves the machine.
    """
    destination = destination_of(base_url)
    host = Host(destination.host, is_address=destination.is_address)
    is_private = reach_of(host.text) is Reach.PRIVATE if host.is_address else is_under(host.text, "internal")
    found = set()
    if destination.scheme != "https" and not host.is_loopback:
        found.add(Risk.PLAIN_HTTP)
    if is_private:
        found.add(Risk.PRIVATE_NETWORK)
    return frozenset(found)


def check_acknowledged(base_url: str, risks: frozenset[Risk], given: Acknowledgement | None) -> None:
    """Neither less nor more than there is. Raises `Conflict` (`risk_not_acknowledged`), whose facts name what would
    have to be acknowledged, and `Invalid` where there is nothing to acknowledge.
    """
    if not risks:
        if given is not None:
            raise _wrong("/acknowledge", "This base URL has no risk to acknowledge. Leave this out.")
    elif given is None or given.url != base_url or given.risks != risks:
        raise Conflict(
            "Acknowledge exactly these risks, for exactly this URL, in the same request.",
            code="risk_not_acknowledged",
            facts={"baseUrl": base_url, "risks": sorted(risks)},
        )


def check_public_only(profile: ExposureProfile, *, stated: bool) -> None:
    """A server labels nothing, so that somebody has to answer for what its credential reaches. Raises `Invalid`."""
    if profile is ExposureProfile.CUSTOMER_SAFE and not stated:
        raise _wrong(
            "/credentialReachesPublicContentOnly",
            "What is customer_safe needs `true` here, with every credential and base URL: no more than public content.",
        )


def is_still_stated(*, stated: bool, moved: bool, mutation: CredentialMutation, has_credential: bool) -> bool:
    """What was said of one credential at one base URL says nothing of another credential, of none, or of another base
    URL, where another tenant may be.
    """
    is_kept = isinstance(mutation, Keep) or (isinstance(mutation, Clear) and not has_credential)
    return stated and is_kept and not moved


def check_credential_moves(before: str, after: str, mutation: CredentialMutation, *, has_credential: bool) -> None:
    """A credential is never taken along to another origin. Raises `Conflict` (`credential_required`)."""
    if has_credential and isinstance(mutation, Keep) and has_other_origin(before, after):
        raise Conflict(
            "The new base URL has another scheme, host or port. Replace or clear the credential in the same request.",
            code="credential_required",
        )


def has_other_origin(before: str, after: str) -> bool:
    return destination_of(before).origin != destination_of(after).origin


def _wrong(pointer: str, detail: str) -> Invalid:
    return Invalid("Correct the fields named in `errors`.", violations=(Violation(pointer, detail),))
