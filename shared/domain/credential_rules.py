"""What a credential of each class may carry. The ceiling is the class's: no field widens it."""

from __future__ import annotations

from collections.abc import Collection

from shared.domain.exposure import GRANTABLE, CredentialClass, Grant
from shared.domain.identifiers import exposure_of
from shared.domain.urls import checked_origin
from shared.errors import Conflict, Invalid, Violation

MAX_ALLOWED_PROVIDERS = 200

# Fields that exist for one class alone, and where they stand in a request.
_ONLY_FOR = {
    "origins": ("/origins", CredentialClass.PUBLIC),
    "address_rate_per_minute": ("/addressRatePerMinute", CredentialClass.PUBLIC),
    "allowed_providers": ("/allowedProviders", CredentialClass.AGENT),
}


def check_fields(credential_class: CredentialClass, fields: Collection[str]) -> None:
    """`fields` are those that a request set. Raises `Invalid` naming the ones that this class does not have."""
    violations = tuple(
        Violation(pointer, f"Only a credential of class {only} has this field.")
        for name, (pointer, only) in _ONLY_FOR.items()
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


def checked_origins(
    credential_class: CredentialClass, origins: Collection[str], *, allow_loopback_http: bool
) -> tuple[str, ...]:
    """Origins as browsers send them, without repetition. Raises `Invalid`, also for a widget credential without any:
    it could be used from nowhere.
    """
    if credential_class is CredentialClass.PUBLIC and not origins:
        raise _invalid(Violation("/origins", "A widget credential lists at least one origin."))
    exact = (_checked_origin(each, n, allow_loopback_http=allow_loopback_http) for n, each in enumerate(origins))
    return tuple(dict.fromkeys(exact))


def _checked_origin(text: str, position: int, *, allow_loopback_http: bool) -> str:
    try:
        return checked_origin(text, allow_loopback_http=allow_loopback_http)
    except Invalid as error:
        violation = Violation(f"/origins/{position}", error.detail)
        raise Invalid(error.detail, code=error.code, violations=(violation,)) from None


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
