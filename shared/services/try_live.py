"""Tries a hosted live service: one real operation, reserved and counted like any other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from shared.domain.acquisitions import Acquired, Wanted
from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.live_configs import SourcePolicy
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Question, Retrieval
from shared.domain.pools import POOL_OF
from shared.domain.registrations import Provider
from shared.domain.source_policy import approved_url
from shared.domain.trials import TRIAL_LIMIT, Trial, Tried, Wish, question_of, source_of, trial_code_of
from shared.errors import ExchangeError, Invalid, Violation
from shared.ports.asker import Asker
from shared.ports.clock import Clock
from shared.ports.live_retriever import Acquirer
from shared.ports.meter import Meters
from shared.ports.secret_box import Unsealer
from shared.services.open_line import CEILING_S

T = TypeVar("T")


class TryAsking:
    """Of a service that answers searches."""

    def __init__(self, *, asker: Asker, unsealers: Mapping[ExposureProfile, Unsealer], clock: Clock) -> None:
        self._asker = asker
        self._unsealers = unsealers
        self._clock = clock

    async def __call__(self, provider: Provider, wish: Wish) -> Tried:
        """A service that fails, or is not asked, is a result. Raises `Invalid` for a wish that is no question."""
        question, limits = question_of(wish), self._asker.limits
        limit, ceiling_s = min(TRIAL_LIMIT, limits.results), min(limits.timeout_s, CEILING_S)
        trial = Trial(timeout_ms=round(ceiling_s * 1000), limit=limit)
        if len(question.query) > limits.query_characters:
            return Tried(trial=trial, error_code=OutcomeCode.QUERY_TOO_LONG)
        deadline = Deadline.after(ceiling_s, now_s=self._clock.monotonic())
        asking = self._ask(provider, replace(question, limit=limit), deadline)
        return await _tried(asking, trial, took=_retrieved, clock=self._clock)

    def _ask(self, provider: Provider, question: Question, deadline: Deadline) -> Awaitable[Retrieval]:
        unsealer = self._unsealers[provider.exposure_profile]
        return self._asker.ask(provider.source, question, unsealer=unsealer, deadline=deadline)


class TryFetching:
    """Of a service that only fetches sources. `endpoint` is where it is."""

    def __init__(
        self, *, acquirer: Acquirer, meters: Meters, endpoint: str, allow_test_names: bool, clock: Clock
    ) -> None:
        self._acquirer = acquirer
        self._meters = meters
        self._endpoint = endpoint
        self._allow_test_names = allow_test_names
        self._clock = clock

    async def __call__(self, provider: Provider, wish: Wish) -> Tried:
        """A service that fails, or is not asked, is a result. Raises `Invalid` for a wish that is no source and for
        one that the provider does not approve (`source_not_approved`).
        """
        wanted = source_of(wish)
        self._check_approved(provider, wanted)
        deadline = Deadline.after(CEILING_S, now_s=self._clock.monotonic())
        at_service = replace(provider.source, base_url=self._endpoint)
        meter = self._meters.open(at_service, POOL_OF[at_service.kind], deadline=deadline)
        fetching = self._acquirer.acquire(at_service, wanted, meter=meter)
        return await _tried(fetching, Trial(timeout_ms=round(CEILING_S * 1000)), took=_acquired, clock=self._clock)

    def _check_approved(self, provider: Provider, wanted: Wanted) -> None:
        policy = provider.source.config
        if not isinstance(policy, SourcePolicy) or not self._is_approved(wanted.url, policy):
            detail = "This provider does not approve the host of this source."
            raise Invalid(detail, code="source_not_approved", violations=(Violation("/url", detail),))

    def _is_approved(self, url: str, policy: SourcePolicy) -> bool:
        return approved_url(url, policy, allow_test_names=self._allow_test_names) is not None


async def _tried(work: Awaitable[T], trial: Trial, *, took: Callable[[Tried, T], Tried], clock: Clock) -> Tried:
    started = clock.monotonic()
    try:
        result = await work
    except ExchangeError as error:
        tried = Tried(trial=trial, error_code=trial_code_of(error), retry_at=error.retry_at)
    else:
        tried = took(Tried(trial=trial), result)
    return replace(tried, duration_ms=round((clock.monotonic() - started) * 1000))


def _retrieved(tried: Tried, retrieval: Retrieval) -> Tried:
    return replace(tried, retrieval=retrieval)


def _acquired(tried: Tried, acquired: Acquired) -> Tried:
    return replace(tried, acquired=acquired)
