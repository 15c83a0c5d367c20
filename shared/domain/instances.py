"""Self-hosted servers, as operators register them. Knowledge bases on them are bound as providers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, Literal

from shared.domain.exposure import ExposureProfile
from shared.domain.outcomes import OutcomeCode
from shared.domain.registrations import Link, ProviderKind, SealedSecret, Source

InstanceKind = Literal[ProviderKind.DIFY, ProviderKind.FASTGPT, ProviderKind.RAGFLOW]
INSTANCE_KINDS: Final = frozenset({ProviderKind.DIFY, ProviderKind.FASTGPT, ProviderKind.RAGFLOW})
MAX_INSTANCES_PER_EXPOSURE = 50
MAX_BINDINGS_PER_INSTANCE = 30  # an instance and all its bindings go in one transaction, which has its limit


class Risk(StrEnum):
    """What an operator has to acknowledge for exactly one base URL; another base URL voids it."""

    PLAIN_HTTP = "plain_http"  # the credential and every passage can be read on the way
    PRIVATE_NETWORK = "private_network"


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """`acknowledged` are the risks that were accepted for exactly this `base_url`. `reaches_public_only`: an operator
    has stated that the credential reaches public content alone; without it nothing here is customer_safe.
    `private_authority` is a certificate (PEM) that is trusted beside the public ones, for this server alone.
    `binding_ids` are the providers bound to it, as they were when it was read; the store keeps them.
    """

    id: str
    name: str
    kind: ProviderKind
    exposure_profile: ExposureProfile
    base_url: str
    generation: int
    credential: SealedSecret | None = None
    acknowledged: frozenset[Risk] = frozenset()
    reaches_public_only: bool = False
    private_authority: str | None = field(default=None, repr=False)
    binding_ids: frozenset[str] = frozenset()
    created_at: float = 0.0
    updated_at: float = 0.0

    @property
    def link(self) -> Link:
        return Link(
            owner_id=self.id,
            generation=self.generation,
            credential=self.credential,
            allow_plain_http=Risk.PLAIN_HTTP in self.acknowledged,
            private_authority=self.private_authority,
        )

    def at(self, source: Source) -> Source:
        """A binding's source, reached as this instance is."""
        allow_private_network = Risk.PRIVATE_NETWORK in self.acknowledged
        return replace(source, base_url=self.base_url, allow_private_network=allow_private_network, link=self.link)


class Finding(StrEnum):
    """What a test found out about one thing. `untested` is said of everything that was not tried."""

    PASSED = "passed"
    FAILED = "failed"
    UNTESTED = "untested"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceReport:
    """Each thing apart: none is claimed because another held. `version` only where the server says it itself."""

    reachable: Finding = Finding.UNTESTED
    authenticated: Finding = Finding.UNTESTED
    list_readable: Finding = Finding.UNTESTED
    retrieval: Finding = Finding.UNTESTED
    error_code: OutcomeCode | None = None
    version: str | None = None
    duration_ms: int = 0
