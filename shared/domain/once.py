"""A caller's wish that a request be carried out once, however often it is sent (`Idempotency-Key`)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from shared.domain.changes import IDEMPOTENCY_RETENTION_S, IdempotencyRecord


@dataclass(frozen=True, slots=True)
class Once:
    """`key` and `body_hash` are SHA-256, hex: neither the caller's key nor the body is kept."""

    key: str
    body_hash: str

    @classmethod
    def of(cls, *, credential_id: str, method: str, path: str, key: str, body: bytes) -> Once:
        scope = "\0".join((credential_id, method, path, key))
        return cls(key=hashlib.sha256(scope.encode()).hexdigest(), body_hash=hashlib.sha256(body).hexdigest())

    def record(self, *, status: int, resource_id: str, now: float) -> IdempotencyRecord:
        """What remembers that the request made `resource_id` and was answered with `status`."""
        return IdempotencyRecord(
            key=self.key,
            body_hash=self.body_hash,
            status=status,
            resource_id=resource_id,
            expires_at=now + IDEMPOTENCY_RETENTION_S,
        )
