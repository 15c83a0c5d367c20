"""Recognises a request that was carried out before, by its idempotency key."""

from __future__ import annotations

from shared.domain.once import Once
from shared.errors import Invalid
from shared.ports.idempotency import Idempotency


class Replay:
    """A record lies in its resource's own transaction: one that is found means that the work is done, whole."""

    def __init__(self, *, idempotency: Idempotency) -> None:
        self._idempotency = idempotency

    async def find(self, once: Once | None) -> str | None:
        """The id of what the earlier request made, or None. Raises `Invalid` (`idempotency_key_reused`)."""
        record = await self._idempotency.find(once.key) if once else None
        if record is None or once is None:
            return None
        if record.body_hash != once.body_hash:
            raise Invalid(
                "This idempotency key was used with another body within the last 24 hours.",
                code="idempotency_key_reused",
            )
        return record.resource_id
