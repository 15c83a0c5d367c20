"""The first admin, as it is shown among the other credentials. Its secret lies outside the store."""

from __future__ import annotations

from shared.domain.credentials import DEFAULT_RATE_PER_MINUTE, Credential, CredentialStatus
from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import ROOT_ID
from shared.errors import Conflict

_ENABLED, _DISABLED = 1, 2


def root_credential(*, enabled: bool) -> Credential:
    """Its generation has two values, one for on and one for off: the switch is all that can change."""
    return Credential(
        id=ROOT_ID,
        credential_class=CredentialClass.ADMIN,
        name="Root",
        digest=b"",
        fingerprint="",
        status=CredentialStatus.ACTIVE if enabled else CredentialStatus.DISABLED,
        rate_per_minute=DEFAULT_RATE_PER_MINUTE[CredentialClass.ADMIN],
        generation=_ENABLED if enabled else _DISABLED,
    )


def refuse_for_root(credential_id: str) -> None:
    """Root can be switched off and on, nothing else. Raises `Conflict` (`root_protected`)."""
    if credential_id == ROOT_ID:
        raise Conflict(
            "Root can only be switched off and on. Its secret is replaced where the stack keeps it.",
            code="root_protected",
        )
