"""Asks one provider a question for an operator, and tells what came back. It counts for nothing and fills no cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from shared.domain.credentials import Principal
from shared.domain.exposure import may_keep
from shared.domain.outcomes import OutcomeCode, OutcomeStatus
from shared.domain.passages import Passage, Question, Retrieval, Warning_
from shared.domain.preconditions import check_generation, existing
from shared.domain.registrations import Provider, ProviderKind, ProviderStatus
from shared.errors import Conflict, ExchangeError, NotFound, PreconditionFailed
from shared.ports.clock import Clock
from shared.ports.registry import Registry
from shared.ports.retriever import Retriever
from shared.services.change_provider import ChangeProvider
from shared.services.open_line import OpenLine

TEST_LIMIT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What the provider was asked under: the effective configuration of this one call."""

    timeout_ms: int
    limit: int
    signatures: int  # 2 inside a rotation window


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`kept` is what a search by an agent would show; `dropped` came back and would be shown to nobody."""

    provider: Provider
    trial: Trial
    status: OutcomeStatus
    error_code: OutcomeCode | None = None
    duration_ms: int = 0
    kept: tuple[Passage, ...] = ()
    dropped: tuple[Passage, ...] = ()
    warnings: tuple[Warning_, ...] = ()
    activated: bool = False
    activation_lost: bool = False  # it passed and was to be turned on, and somebody changed or removed it meanwhile


@dataclass(frozen=True, slots=True)
class _Asked:
    retrieval: Retrieval = field(default_factory=Retrieval)
    error_code: OutcomeCode | None = None
    duration_ms: int = 0


class TestProvider:
    __test__ = False  # not a test case, whatever its name looks like

    def __init__(
        self,
        *,
        registry: Registry,
        change: ChangeProvider,
        retrievers: Mapping[ProviderKind, Retriever],
        open_line: OpenLine,
        clock: Clock,
    ) -> None:
        self._registry = registry
        self._change = change
        self._retrievers = retrievers
        self._open_line = open_line
        self._clock = clock

    async def __call__(
        self, provider_id: str, query: str, *, activate: bool, expected_generation: int | None, by: Principal
    ) -> Report:
        """A provider that fails is a report, not an error. `activate` turns a provider that answered on, unless it
        was changed while the test ran: the report then shows it as it was tested.

        Raises `NotFound`, `PreconditionFailed` for an `expected_generation` that it had not before, `Unavailable`.
        """
        provider = existing(await self._registry.get(provider_id))
        check_generation(provider.generation, expected_generation)
        retriever = self._retrievers[provider.source.kind]
        line = await self._open_line(provider, timeout_s=retriever.limits.timeout_s)
        limit = min(TEST_LIMIT, retriever.limits.results)
        trial = Trial(timeout_ms=line.timeout_ms, limit=limit, signatures=1 if line.secrets.previous is None else 2)
        if len(query) > retriever.limits.query_characters:
            return _report(provider, trial, _Asked(error_code=OutcomeCode.QUERY_TOO_LONG))
        started = self._clock.monotonic()
        try:
            retrieval = await retriever.retrieve(
                provider.source, Question(query=query, limit=limit), secrets=line.secrets, exchange=line.exchange
            )
        except ExchangeError as error:
            return _report(provider, trial, _Asked(error_code=OutcomeCode(error.code), duration_ms=self._ms(started)))
        report = _report(provider, trial, _Asked(retrieval, duration_ms=self._ms(started)))
        return await self._activated(report, by=by) if activate else report

    async def _activated(self, report: Report, *, by: Principal) -> Report:
        before = report.provider
        if before.status is ProviderStatus.ACTIVE:
            return report
        after = replace(before, status=ProviderStatus.ACTIVE, needs_test=False)
        try:
            written = await self._change(before, after, action="provider.activated", by=by)
        except (Conflict, NotFound, PreconditionFailed):
            return replace(report, activation_lost=True)
        return replace(report, provider=written, activated=True)

    def _ms(self, started: float) -> int:
        return round((self._clock.monotonic() - started) * 1000)


def _report(provider: Provider, trial: Trial, asked: _Asked) -> Report:
    passages = asked.retrieval.passages
    kept = tuple(each for each in passages if may_keep(provider.exposure_profile, each.audience))
    dropped = tuple(each for each in passages if not may_keep(provider.exposure_profile, each.audience))
    noticed = asked.retrieval.warnings
    if dropped and Warning_.INTERNAL_DROPPED not in noticed:
        noticed = (*noticed, Warning_.INTERNAL_DROPPED)
    return Report(
        provider=provider,
        trial=trial,
        status=_status(asked, kept),
        error_code=asked.error_code,
        duration_ms=asked.duration_ms,
        kept=kept,
        dropped=dropped,
        warnings=noticed,
    )


def _status(asked: _Asked, kept: tuple[Passage, ...]) -> OutcomeStatus:
    if asked.error_code is not None:
        return OutcomeStatus.FAILED
    return OutcomeStatus.SUCCESS if kept else OutcomeStatus.EMPTY
