"""Finding what an earlier request with the same idempotency key did. Written by the stores, with the resource."""

from __future__ import annotations

from typing import Protocol

from shared.domain.changes import IdempotencyRecord


class Idempotency(Protocol):
    """`find` is strongly consistent and never returns an expired record. Raises `Unavailable`."""

    async def find(self, key: str) -> IdempotencyRecord | None: ...
