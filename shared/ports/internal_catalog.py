"""The registrations that only trusted people's tools may ask, and no others."""

from __future__ import annotations

from typing import Protocol

from shared.domain.registrations import Provider


class InternalCatalog(Protocol):
    """Reads the agent_only registrations of all kinds but self-hosted servers, which searches alone ask.

    `providers` returns every one of them, whatever its status, as of a strongly consistent read of their generation:
    a copy kept in the process is used only while its generation is still the current one. Order is registration order
    (`created_at`, then id). Raises `Unavailable` when the store cannot be read.
    """

    async def providers(self) -> tuple[Provider, ...]: ...
