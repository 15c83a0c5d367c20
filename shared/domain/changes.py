"""What travels with an admin write, in the write's own transaction."""

from __future__ import annotations

from dataclasses import dataclass

from shared.domain.audit import AuditEntry

IDEMPOTENCY_RETENTION_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyRecord:
    """Remembers that a creating request was carried out: what was asked and which thing it made. No secret."""

    key: str  # SHA-256, hex, over (credential, method, path, Idempotency-Key)
    body_hash: str  # SHA-256, hex, of the request body's bytes
    status: int
    resource_id: str
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The company of one admin write: its audit entry and, for creating requests, its idempotency record."""

    audit: AuditEntry
    idempotency: IdempotencyRecord | None = None
