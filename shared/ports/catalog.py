"""The registrations that the agent lane may ask: both exposure profiles."""

from __future__ import annotations

from typing import Protocol

from shared.domain.registrations import Provider


class Catalog(Protocol):
    """Reads registrations for a search by an agent.

    `providers` returns every registration of both exposure profiles, whatever its status, as of a strongly
    consistent read of each exposure's generation: a copy kept in the process is used only while its generation
    is still the current one. Order is registration order (`created_at`, then id).
    Raises `Unavailable` when the store cannot be read.

    `last_known` is what `providers` gave last in this process: None before, and from the moment on at which a later
    read shows that something has changed, whether it then succeeds or not.
    """

    async def providers(self) -> tuple[Provider, ...]: ...

    def last_known(self) -> tuple[Provider, ...] | None: ...
