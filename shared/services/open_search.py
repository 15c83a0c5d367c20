"""How an agent's search opens: who asks, which sources there are, and how they are.

When the store cannot be used, whoever it vouched for a moment ago is answered from memory: with the registrations of
that moment, not counted, and without knowing any circuits. What the store says, if it says anything, is what counts.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, TypeAlias

from aws_lambda_powertools import Logger

from shared.domain.credentials import Principal
from shared.domain.deadlines import Deadline
from shared.domain.exposure import CredentialClass, Grant
from shared.domain.registrations import Provider
from shared.errors import Forbidden, Unavailable
from shared.observability import SEARCHED_FROM_MEMORY
from shared.ports.catalog import Catalog
from shared.ports.circuits import KnownCircuits
from shared.ports.clock import Clock, Moment
from shared.services.admit import Admit
from shared.services.at_once import opened
from shared.services.guarded_asking import GuardedAsking
from shared.services.remembered_tokens import REMEMBERED_FOR_S

PATIENCE_S: Final = 2.0
_SHARE: Final = 3  # of the time that is left, a third at most is spent on a store that does not answer

Read: TypeAlias = "tuple[tuple[Provider, ...], KnownCircuits]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """`needs` is a grant that the credential must hold beyond its class."""

    token: str | None
    agent_id: str | None
    request_id: str
    needs: Grant | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """`is_remembered`: nothing of it is of this moment."""

    principal: Principal
    providers: tuple[Provider, ...]
    known: KnownCircuits
    is_remembered: bool = False


class OpenSearch:
    """The caller is admitted beside the reading of the registrations and circuits.

    Raises what `Admit` raises for an agent, `Forbidden` without the grant that is needed, `Unavailable` when the store
    cannot be used and nothing is remembered.
    """

    def __init__(self, *, admit: Admit, catalog: Catalog, asking: GuardedAsking, clock: Clock, logger: Logger) -> None:
        self._admit = admit
        self._catalog = catalog
        self._asking = asking
        self._clock = clock
        self._logger = logger
        self._read_at: Moment | None = None

    async def __call__(self, caller: Caller, *, deadline: Deadline) -> Opening:
        admission, reading = self._admitted(caller), self._read()
        opening = asyncio.ensure_future(opened(admission, reading, deadline=deadline, clock=self._clock))
        try:
            if self._remembered(caller) is not None:
                patience_s = patience_of(deadline.remaining_s(self._clock.monotonic()))
                await asyncio.wait({opening}, timeout=patience_s)
            return (None if opening.done() else self._recalled(caller)) or await self._opened(opening, caller)
        finally:
            if not opening.done():
                opening.cancel()
                await asyncio.wait({opening})

    async def _admitted(self, caller: Caller) -> Principal:
        principal = await self._admit(caller.token, classes=(CredentialClass.AGENT,), agent_id=caller.agent_id)
        return with_grant(principal, caller.needs)

    async def _opened(self, opening: asyncio.Future[tuple[Principal, Read]], caller: Caller) -> Opening:
        try:
            principal, (providers, known) = await opening
        except Unavailable:
            if (recalled := self._recalled(caller)) is not None:
                return recalled
            raise
        return Opening(principal=principal, providers=providers, known=known)

    async def _read(self) -> Read:
        begun = Moment.of(self._clock)
        providers, known = await self._asking.beside(self._catalog.providers())
        self._read_at = begun
        return providers, known

    def _recalled(self, caller: Caller) -> Opening | None:
        remembered = self._remembered(caller)
        if remembered is not None:
            with_grant(remembered.principal, caller.needs)
            self._logger.warning(SEARCHED_FROM_MEMORY, request_id=caller.request_id, agent_id=caller.agent_id)
        return remembered

    def _remembered(self, caller: Caller) -> Opening | None:
        """None unless both are there, who asks and what there is to ask, and neither is older than a minute."""
        providers = self._catalog.last_known()
        if providers is None or self._read_at is None:
            return None
        if not self._read_at.is_within(REMEMBERED_FOR_S, clock=self._clock):
            return None
        principal = self._admit.remembered_agent(caller.token, agent_id=caller.agent_id)
        if principal is None:
            return None
        return Opening(principal=principal, providers=providers, known=KnownCircuits(), is_remembered=True)


def with_grant(principal: Principal, needed: Grant | None) -> Principal:
    if needed is not None and needed not in principal.grants:
        raise Forbidden(f"This credential needs the grant {needed}.")
    return principal


def patience_of(left_s: float) -> float:
    """How long a store that does not answer is waited for, when there is something to answer with."""
    return min(PATIENCE_S, left_s / _SHARE)
