"""Says whether a web page may ask at all: the question behind a CORS preflight, which carries no key."""

from __future__ import annotations

from shared.domain.origins import comparable_origin
from shared.ports.origins import Origins


class AdmitPreflight:
    """True when an active widget credential lists the origin. Raises `Unavailable`."""

    def __init__(self, *, origins: Origins) -> None:
        self._origins = origins

    async def __call__(self, origin: str | None) -> bool:
        comparable = comparable_origin(origin)
        return comparable is not None and await self._origins.is_listed(comparable)
