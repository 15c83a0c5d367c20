"""Asks one provider a question for an operator, and tells what came back. It counts for nothing, no cache is filled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from shared.domain.acquisitions import Acquired
from shared.domain.credentials import Principal
from shared.domain.exposure import may_keep
from shared.domain.outcomes import OutcomeStatus
from shared.domain.passages import Discovery, Passage, Warning_
from shared.domain.preconditions import check_generation, existing
from shared.domain.registrations import Provider, ProviderKind, ProviderStatus
from shared.domain.trials import Trial, TrialCode, Tried, Wish
from shared.errors import Conflict, NotFound, PreconditionFailed
from shared.ports.registry import Registry
from shared.services.change_provider import ChangeProvider


class WayToTry(Protocol):
    """How providers of one kind are tried: `TrySigned`, `TryAsking`, `TryFetching`."""

    async def __call__(self, provider: Provider, wish: Wish) -> Tried: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`kept` is what a search by an agent would show; `dropped` came back and would be shown to nobody. `acquired` is
    what a provider fetched that only fetches. `retry_at` is Unix seconds.
    """

    provider: Provider
    trial: Trial
    status: OutcomeStatus
    error_code: TrialCode | None = None
    retry_at: float | None = None
    duration_ms: int = 0
    kept: tuple[Passage, ...] = ()
    dropped: tuple[Passage, ...] = ()
    discoveries: tuple[Discovery, ...] = ()
    acquired: Acquired | None = None
    warnings: tuple[Warning_, ...] = ()
    activated: bool = False
    activation_lost: bool = False  # it passed and was to be turned on, and somebody changed or removed it meanwhile


class TestProvider:
    __test__ = False  # not a test case, whatever its name looks like

    def __init__(self, *, registry: Registry, change: ChangeProvider, ways: Mapping[ProviderKind, WayToTry]) -> None:
        self._registry = registry
        self._change = change
        self._ways = ways

    async def __call__(
        self, provider_id: str, wish: Wish, *, activate: bool, expected_generation: int | None, by: Principal
    ) -> Report:
        """A provider that fails is a report, not an error. `activate` turns a provider that answered on, unless it
        was changed while the test ran: the report then shows it as it was tested.

        Raises `NotFound`, `PreconditionFailed` for an `expected_generation` that it had not before, `Invalid` for a
        wish that its kind cannot be tested with, `Unavailable`.
        """
        provider = existing(await self._registry.get(provider_id))
        check_generation(provider.generation, expected_generation)
        report = _report(provider, await self._ways[provider.source.kind](provider, wish))
        return await self._activated(report, by=by) if activate and report.error_code is None else report

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


def _report(provider: Provider, tried: Tried) -> Report:
    passages = tried.retrieval.passages
    kept = tuple(each for each in passages if may_keep(provider.exposure_profile, each.audience))
    dropped = tuple(each for each in passages if not may_keep(provider.exposure_profile, each.audience))
    return Report(
        provider=provider,
        trial=tried.trial,
        status=_status(tried, kept),
        error_code=tried.error_code,
        retry_at=tried.retry_at,
        duration_ms=tried.duration_ms,
        kept=kept,
        dropped=dropped,
        discoveries=tried.retrieval.discoveries,
        acquired=tried.acquired,
        warnings=_noticed(tried, dropped),
    )


def _noticed(tried: Tried, dropped: tuple[Passage, ...]) -> tuple[Warning_, ...]:
    noticed = (*tried.retrieval.warnings, *(tried.acquired.warnings if tried.acquired else ()))
    if dropped and Warning_.INTERNAL_DROPPED not in noticed:
        return (*noticed, Warning_.INTERNAL_DROPPED)
    return noticed


def _status(tried: Tried, kept: tuple[Passage, ...]) -> OutcomeStatus:
    if tried.error_code is not None:
        return OutcomeStatus.FAILED
    found = kept or tried.retrieval.discoveries or tried.acquired
    return OutcomeStatus.SUCCESS if found else OutcomeStatus.EMPTY
