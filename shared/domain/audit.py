"""One line of the audit: who did what to which thing, when, and what changed. Never a secret."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

# Only the values of these fields are kept with the entry, old and new.
AUDITED_FIELDS = (
    "baseUrl",
    "allowPrivateNetwork",
    "sendConversationId",
    "origins",
    "grants",
    "status",
    "acknowledgements",
    "cardsCreated",
    "cardsUpdated",
    "approvedHosts",
    "repositories",
    "limit",
    "unknown",
    "happened",
    "didNotHappen",
    "keys",
    "restsUntil",
    "instanceId",
    "remoteId",
    "knowledgeId",
    "reachesPublicOnly",
    "credentialFingerprint",
    "privateAuthority",
    "bindings",
)
AuditValue: TypeAlias = "str | int | bool | list[str] | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    id: str  # sorts by time: <ISO 8601 UTC with microseconds>#<8 hex>
    at: float
    actor: str  # credential id
    action: str  # e.g. provider.created
    resource: str  # e.g. provider/cs_...
    generation_before: int | None = None
    generation_after: int | None = None
    before: dict[str, AuditValue] = field(default_factory=dict)
    after: dict[str, AuditValue] = field(default_factory=dict)


AUDIT_RETENTION_S = 400 * 86_400
