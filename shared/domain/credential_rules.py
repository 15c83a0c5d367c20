"""What a credential of each class may carry. The ceiling is the class's: no field widens it."""

from __future__ import annotations

from collections.abc import Collection

from shared.domain.exposure import GRANTABLE, CredentialClass, Grant
from shared.domain.identifiers import exposure_of
from shared.errors import Conflict, Invalid, Violation

MAX_ORIGINS = 50
MAX_ALLOWED_PROVIDERS = 200

# Fields that exist for one class alone.
_ONLY_FOR = {
    "origins": CredentialClass.PUBLIC,
    "addressRatePerMinute": CredentialClass.PUBLIC,
    "allowedProviders": CredentialClass.AGENT,
}


def check_fields(credential_class: CredentialClass, fields: Collection[str]) -> None:
    """`fields` are the wire names that a request set. Raises `Invalid` naming those that the class does not have."""
    violations = tuple(
        Violation(f"/{name}", f"Only a credential of class {only} has this field.")
        for name, only in _ONLY_FOR.items()
        if name in fields and credential_class is not only
    )
    if violations:
        raise _invalid(*violations)


def checked_grants(credential_class: CredentialClass, grants: Collection[Grant]) -> frozenset[Grant]:
    """Raises `Conflict` (`grant_refused`) for a grant that this class may never hold."""
    refused = sorted(set(grants) - GRANTABLE[credential_class])
    if Grant.READ_INTERNAL in refused:
        raise Conflict(
            "Every assistant can produce output that reaches a customer, so nothing may be granted internal knowledge. "
            "Use a credential of class agt for a tool that a trusted human operates.",
            code="grant_refused",
            facts={"grants": list(refused)},
        )
    if refused:
        raise Conflict(
            f"A credential of class {credential_class} cannot hold this grant.",
            code="grant_refused",
            facts={"grants": list(refused)},
        )
    return frozenset(grants)


def check_origins(credential_class: CredentialClass, origins: Collection[str]) -> None:
    """A widget credential without origins could be used from nowhere. Raises `Invalid`."""
    if credential_class is CredentialClass.PUBLIC and not origins:
        raise _invalid(Violation("/origins", "A widget credential lists at least one origin."))


def check_expiry(expires_at: float | None, *, now: float) -> None:
    """Raises `Invalid` for a moment that has passed."""
    if expires_at is not None and expires_at <= now:
        raise _invalid(Violation("/expiresAt", "This moment has passed."))


def _invalid(*violations: Violation) -> Invalid:
    return Invalid("Correct the fields named in `errors`.", violations=violations)


def checked_allowed_providers(provider_ids: Collection[str] | None) -> tuple[str, ...] | None:
    """Ids without repetition, in their order. Raises `Invalid` for a malformed one; existence is not asked."""
    if provider_ids is None:
        return None
    malformed = [position for position, each in enumerate(provider_ids) if exposure_of(each) is None]
    if malformed:
        raise _invalid(*(Violation(f"/allowedProviders/{n}", "This is not a provider id.") for n in malformed))
    return tuple(dict.fromkeys(provider_ids))
