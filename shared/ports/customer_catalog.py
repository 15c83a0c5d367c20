"""The registrations that a customer path may ask. Nothing here can name or reach any other."""

from __future__ import annotations

from typing import Protocol

from shared.domain.registrations import CustomerSource


class CustomerCatalog(Protocol):
    """Reads the active sources of the customer lane.

    No method takes an exposure profile or an id. `sources` returns active customer_safe sources alone, in
    registration order, as of a strongly consistent read of the generation; an item that does not itself say
    customer_safe is left out. Raises `Unavailable` when the store cannot be read.
    """

    async def sources(self) -> tuple[CustomerSource, ...]: ...
