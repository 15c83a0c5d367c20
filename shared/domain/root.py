"""The first admin, as it is shown among the other credentials. Its secret lies outside the store."""

from __future__ import annotations

from dataclasses import dataclass

from shared.domain.credentials import DEFAULT_RATE_PER_MINUTE, Credential, CredentialStatus
from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import ROOT_ID
from shared.errors import Conflict


@dataclass(frozen=True, slots=True, kw_only=True)
class RootSwitch:
    """Whether root may be used. On, in its first generation, until somebody switches it; each switch is one more."""

    is_on: bool = True
    generation: int = 1

    def turned(self, *, on: bool) -> RootSwitch:
        """The next generation; the same one where it is turned to what it is."""
        return self if on is self.is_on else RootSwitch(is_on=on, generation=self.generation + 1)


def root_credential(switch: RootSwitch) -> Credential:
    """The switch is all of it that can change, so its generation is the switch's."""
    return Credential(
        id=ROOT_ID,
        credential_class=CredentialClass.ADMIN,
        name="Root",
        digest=b"",
        fingerprint="",
        status=CredentialStatus.ACTIVE if switch.is_on else CredentialStatus.DISABLED,
        rate_per_minute=DEFAULT_RATE_PER_MINUTE[CredentialClass.ADMIN],
        generation=switch.generation,
    )


def refuse_for_root(credential_id: str) -> None:
    """Root can be switched off and on, nothing else. Raises `Conflict` (`root_protected`)."""
    if credential_id == ROOT_ID:
        raise Conflict(
            "Root can only be switched off and on. Its secret is replaced where the stack keeps it.",
            code="root_protected",
        )
