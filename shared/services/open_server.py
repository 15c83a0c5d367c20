"""Opens lines to one self-hosted server for an operator: with its credential, under one ceiling of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.instances import Instance
from shared.domain.registrations import Source
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange, Exchanges
from shared.ports.secret_box import Unsealer
from shared.services.open_line import CEILING_S

LISTING_S: Final = 12.0  # of the ceiling, where something else comes after it


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLine:
    """`source` stands for the server itself: nothing on it is chosen yet."""

    source: Source
    credential: str | None = field(repr=False)
    deadline: Deadline
    exchanges: Exchanges
    clock: Clock

    @property
    def base_url(self) -> str:
        return self.source.base_url

    @property
    def has_time(self) -> bool:
        return self.deadline.remaining_s(self.clock.monotonic()) > 1.0

    def exchange(self, *, timeout_s: float = CEILING_S) -> Exchange:
        deadline = self.deadline.capped(timeout_s, now_s=self.clock.monotonic())
        return self.exchanges.open(self.source, deadline=deadline)


class OpenServer:
    """Unsealing counts against the ceiling. Nothing here touches a circuit, a cache or a counter."""

    def __init__(self, *, exchanges: Exchanges, unsealers: Mapping[ExposureProfile, Unsealer], clock: Clock) -> None:
        self._exchanges = exchanges
        self._unsealers = unsealers
        self._clock = clock

    async def __call__(self, instance: Instance) -> ServerLine:
        """Raises `Unavailable` (`secrets_unavailable`)."""
        deadline = Deadline.after(CEILING_S, now_s=self._clock.monotonic())
        return ServerLine(
            source=source_of(instance),
            credential=await self._credential(instance),
            deadline=deadline,
            exchanges=self._exchanges,
            clock=self._clock,
        )

    async def _credential(self, instance: Instance) -> str | None:
        if instance.credential is None:
            return None
        unsealer = self._unsealers[instance.exposure_profile]
        return await unsealer.unseal(instance.credential, owner_id=instance.id, purpose="instance")


def source_of(instance: Instance) -> Source:
    """The server as something that can be asked. It is bound to nothing."""
    return instance.at(
        Source(id=instance.id, name=instance.name, kind=instance.kind, base_url="", generation=instance.generation)
    )
