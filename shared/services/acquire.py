"""Fetches the text of one approved source for an agent, through one hosted live service."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Final

from aws_lambda_powertools import Logger

from shared.domain.acquiring import AcquiredFrom, AcquireWish, acquirer_for
from shared.domain.acquisitions import LEFT_APPROVED_HOSTS, NOT_FRESH, Acquired
from shared.domain.circuits import Lane
from shared.domain.deadlines import Deadline
from shared.domain.exposure import CredentialClass
from shared.domain.outcomes import SKIPPED_CODES, OutcomeCode, OutcomeStatus
from shared.domain.registrations import Provider
from shared.errors import ExchangeError, InternalFault, Problem
from shared.measures import Asked, measure_asked
from shared.observability import ACQUIRE_ANSWERED, PROVIDER_FAULT, correlation, place_of
from shared.ports.circuits import KnownCircuits
from shared.ports.clock import Clock
from shared.ports.internal_catalog import InternalCatalog
from shared.services.admit import Admit
from shared.services.ask_acquirer import AskAcquirer
from shared.services.at_once import opened
from shared.services.circuit_keeper import CircuitKeeper
from shared.services.guarded_operation import GuardedOperation
from shared.services.provider_problems import problem_for

# What a service says of a source, having done its work.
OF_THE_SOURCE: Final = frozenset(
    {
        OutcomeCode.NOT_FOUND,
        OutcomeCode.CAPABILITY_UNAVAILABLE,
        OutcomeCode.RESPONSE_TOO_LARGE,
        NOT_FRESH,
        LEFT_APPROVED_HOSTS,
    }
)
LONGEST_S: Final = 25.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AcquireRequest:
    """`wish` is a Problem where the body could not be read: told to admitted callers alone."""

    token: str | None
    agent_id: str | None
    wish: AcquireWish | Problem
    deadline: Deadline
    request_id: str


class Acquire:
    """The caller is admitted beside the read of the registrations. One provider is asked and no other in its place:
    a second service would be told, and paid, without anybody having asked for it.

    Raises what `Admit` raises, then the body's Problem, what `acquirer_for` raises, what `problem_for` makes of a
    provider's failure or of its open circuit, `InternalFault`, `Unavailable` when the store cannot be used.
    """

    def __init__(
        self,
        *,
        admit: Admit,
        catalog: InternalCatalog,
        ask: AskAcquirer,
        keeper: CircuitKeeper,
        allow_test_names: bool,
        clock: Clock,
        logger: Logger,
    ) -> None:
        self._admit = admit
        self._catalog = catalog
        self._ask = ask
        self._operation = GuardedOperation(keeper=keeper, limit_s=LONGEST_S, harmless=OF_THE_SOURCE, clock=clock)
        self._allow_test_names = allow_test_names
        self._clock = clock
        self._logger = logger

    async def __call__(self, request: AcquireRequest) -> AcquiredFrom:
        admission = self._admit(request.token, classes=(CredentialClass.AGENT,), agent_id=request.agent_id)
        reading = self._operation.beside(self._catalog.providers())
        principal, (providers, known) = await opened(admission, reading, deadline=request.deadline, clock=self._clock)
        if isinstance(request.wish, Problem):
            raise request.wish
        allowed = principal.allowed_providers
        provider = acquirer_for(request.wish, providers, allowed=allowed, allow_test_names=self._allow_test_names)
        acquired = await self._reported(provider, request.wish, request, known=known)
        return AcquiredFrom(source=provider.source, acquired=acquired)

    async def _reported(
        self, provider: Provider, wish: AcquireWish, request: AcquireRequest, *, known: KnownCircuits
    ) -> Acquired:
        """With the one log line of an acquisition that chose a provider: never what was asked for or found."""
        report = partial(self._report, provider, request, started_s=self._clock.monotonic())
        try:
            work = partial(self._ask, provider.source, wish, deadline=request.deadline)
            acquired = await self._operation.run(provider.source, work, known=known, deadline=request.deadline)
        except ExchangeError as error:
            report(error.code)
            raise problem_for(error, provider_id=provider.id, now=self._clock.now()) from None
        except (Exception, asyncio.CancelledError) as error:
            if _is_being_cancelled():
                raise
            fault = place_of(error)
            self._logger.error(PROVIDER_FAULT, provider=provider.id, fault=fault, request_id=request.request_id)
            report(OutcomeCode.INTERNAL_ERROR)
            raise InternalFault("Quote the request id when you report this.") from None
        report(OutcomeStatus.SUCCESS, acquired=acquired)
        return acquired

    def _report(
        self,
        provider: Provider,
        request: AcquireRequest,
        outcome: str,
        *,
        started_s: float,
        acquired: Acquired | None = None,
    ) -> None:
        duration_ms = round((self._clock.monotonic() - started_s) * 1000)
        self._logger.info(
            ACQUIRE_ANSWERED,
            request_id=request.request_id,
            agent_id=request.agent_id,
            provider=provider.id,
            kind=provider.source.kind,
            outcome=outcome,
            acquisition=acquired.acquisition if acquired else None,
            warnings=list(acquired.warnings) if acquired else [],
            duration_ms=duration_ms,
        )
        status = _status_of(outcome)
        took_ms = None if status is OutcomeStatus.SKIPPED else duration_ms
        asked = Asked(kind=provider.source.kind, status=status, duration_ms=took_ms)
        measure_asked([asked], lane=Lane.AGENT, about=correlation())


def _status_of(outcome: str) -> OutcomeStatus:
    """`outcome` is `success` or a code."""
    if outcome == OutcomeStatus.SUCCESS:
        return OutcomeStatus.SUCCESS
    return OutcomeStatus.SKIPPED if outcome in SKIPPED_CODES else OutcomeStatus.FAILED


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
