"""Looks at many providers in bounded time: some at once, and few at once of one server."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final
from urllib.parse import urlsplit

from aws_lambda_powertools import Logger

from shared.domain.deadlines import Deadline
from shared.domain.health import Finding, Look, look_of
from shared.domain.outcomes import OutcomeCode
from shared.domain.registrations import Provider, ProviderKind
from shared.observability import PROBE_FAULT, place_of
from shared.ports.check import Check
from shared.ports.clock import Clock

LOOK_S: Final = 4.0
AT_ONCE: Final = 20
PER_HOST: Final = 4
_LETTING_GO_S: Final = 0.25


class _Missed(Enum):
    LEFT_OUT = auto()  # for want of time
    FAULT = auto()  # of the gateway's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """Findings by provider id. `left_out` keeps the order in which they would have been looked at."""

    findings: Mapping[str, Finding]
    left_out: tuple[str, ...] = ()
    faults: int = 0

    @property
    def asked(self) -> int:
        """How many were asked something."""
        return sum(finding.look is not Look.NOTHING for finding in self.findings.values())

    @property
    def next_id(self) -> str:
        """With which the next run begins."""
        return self.left_out[0] if self.left_out else ""


class LookAtAll:
    """Over by the time that it is given, whatever the providers do: none is begun that could not have its whole time,
    and one that does not end when it should is left behind.
    """

    def __init__(
        self,
        *,
        checks: Mapping[ProviderKind, Check],
        clock: Clock,
        logger: Logger,
        look_s: float = LOOK_S,
        at_once: int = AT_ONCE,
        per_host: int = PER_HOST,
    ) -> None:
        self._checks = checks
        self._clock = clock
        self._logger = logger
        self._look_s = look_s
        self._at_once = at_once
        self._per_host = per_host
        self._left_running: set[asyncio.Task[Finding]] = set()

    async def __call__(self, providers: Sequence[Provider], *, until_s: float) -> Looked:
        """They are begun in their order. `until_s` is on the monotonic clock."""
        places = asyncio.Semaphore(self._at_once)
        hosts: dict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(self._per_host))

        async def look(provider: Provider) -> Finding | _Missed:
            async with hosts[_host_of(provider)], places:
                now_s = self._clock.monotonic()
                if now_s + self._look_s > until_s:
                    return _Missed.LEFT_OUT
                return await self._bounded(provider, Deadline.after(self._look_s, now_s=now_s))

        seen = await asyncio.gather(*(look(provider) for provider in providers))
        found = {each.id: one for each, one in zip(providers, seen, strict=True)}
        return Looked(
            findings={id_: one for id_, one in found.items() if isinstance(one, Finding)},
            left_out=tuple(id_ for id_, one in found.items() if one is _Missed.LEFT_OUT),
            faults=sum(one is _Missed.FAULT for one in seen),
        )

    async def _bounded(self, provider: Provider, deadline: Deadline) -> Finding | _Missed:
        looking = asyncio.ensure_future(self._checks[provider.source.kind](provider, deadline=deadline))
        try:
            await asyncio.wait({looking}, timeout=self._look_s + _LETTING_GO_S)
        finally:
            if not looking.done():
                self._let_go(looking)
        if not looking.done():
            return Finding(look=look_of(provider.source.kind), code=OutcomeCode.TIMEOUT)
        return self._result_of(looking, provider)

    def _result_of(self, looking: asyncio.Future[Finding], provider: Provider) -> Finding | _Missed:
        error = asyncio.CancelledError() if looking.cancelled() else looking.exception()
        if error is None:
            return looking.result()
        self._logger.error(PROBE_FAULT, provider=provider.id, fault=place_of(error))
        return _Missed.FAULT

    def _let_go(self, looking: asyncio.Task[Finding]) -> None:
        looking.cancel()
        self._left_running.add(looking)
        looking.add_done_callback(self._ended)

    def _ended(self, looking: asyncio.Task[Finding]) -> None:
        self._left_running.discard(looking)
        if not looking.cancelled():
            looking.exception()  # taken, so that the loop does not report it


def _host_of(provider: Provider) -> str:
    """All providers of a live service are at one host, which no registration names."""
    return urlsplit(provider.source.base_url).netloc or provider.source.kind
