"""Credentials of callers: who they are, what they may reach, how often they may ask."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from shared.domain.exposure import CredentialClass, Grant

# Requests a minute, unless the credential says otherwise.
DEFAULT_RATE_PER_MINUTE: dict[CredentialClass, int] = {
    CredentialClass.ADMIN: 120,
    CredentialClass.AGENT: 600,
    CredentialClass.ASSISTANT: 300,
    CredentialClass.PUBLIC: 1200,
}
DEFAULT_ADDRESS_RATE_PER_MINUTE = 30
MAX_ORIGINS_PER_CREDENTIAL = 40  # a write that replaces all of them is one transaction, of 100 parts at most


class CredentialStatus(StrEnum):
    ACTIVE = "active"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """One caller's credential. Only the digest of its secret exists here."""

    id: str
    credential_class: CredentialClass
    name: str
    digest: bytes = field(repr=False)
    fingerprint: str
    status: CredentialStatus = CredentialStatus.ACTIVE
    grants: frozenset[Grant] = frozenset()
    origins: tuple[str, ...] = ()  # exact widget origins; class `pub` alone
    allowed_providers: tuple[str, ...] | None = None  # class `agt` alone; None = all that the class may reach
    rate_per_minute: int
    address_rate_per_minute: int = DEFAULT_ADDRESS_RATE_PER_MINUTE  # class `pub` alone
    salt: bytes = field(default=b"", repr=False)  # keys the hashing of caller addresses; class `pub` alone
    expires_at: float | None = None
    generation: int = 1
    created_at: float = 0.0
    updated_at: float = 0.0

    def is_usable_at(self, now: float) -> bool:
        return self.status is CredentialStatus.ACTIVE and (self.expires_at is None or now < self.expires_at)

    @property
    def is_lasting_admin(self) -> bool:
        """Whether it administers the gateway and does not end by itself: one such, or root, has to stay."""
        is_admin = self.credential_class is CredentialClass.ADMIN
        return is_admin and self.status is CredentialStatus.ACTIVE and self.expires_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A verified caller. Everything that decides about reach is read from here and from nowhere else."""

    credential_id: str
    credential_class: CredentialClass
    grants: frozenset[Grant] = frozenset()
    allowed_providers: tuple[str, ...] | None = None
    agent_id: str | None = None  # attribution only (`X-Helpthread-Agent-Id`), class `agt` alone
