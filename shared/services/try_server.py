"""Tries a provider on a self-hosted server: one real search, under the provider's own settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from shared.domain.bindings import CommonConfig, common_of
from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.outcomes import OutcomeCode, outcome_code_of
from shared.domain.registrations import Provider, ProviderKind
from shared.domain.trials import TRIAL_LIMIT, Trial, Tried, Wish, question_of
from shared.errors import ExchangeError
from shared.ports.asker import Asker
from shared.ports.clock import Clock
from shared.ports.secret_box import Unsealer
from shared.services.open_line import CEILING_S


class TryServer:
    """`askers` are those of the self-hosted kinds."""

    def __init__(
        self, *, askers: Mapping[ProviderKind, Asker], unsealers: Mapping[ExposureProfile, Unsealer], clock: Clock
    ) -> None:
        self._askers = askers
        self._unsealers = unsealers
        self._clock = clock

    async def __call__(self, provider: Provider, wish: Wish, *, within: Deadline | None = None) -> Tried:
        """A server that fails, or is not asked, is a result. Raises `Invalid` for a wish that is no question."""
        question, asker = question_of(wish), self._askers[provider.source.kind]
        limits, common = asker.limits, common_of(provider.source.config) or CommonConfig()
        ceiling_s = min(limits.timeout_s, CEILING_S, common.request_timeout_ms / 1000)
        limit = min(TRIAL_LIMIT, limits.results, common.result_limit)
        trial = Trial(timeout_ms=round(ceiling_s * 1000), limit=limit)
        if len(question.query) > limits.query_characters:
            return Tried(trial=trial, error_code=OutcomeCode.QUERY_TOO_LONG)
        started = self._clock.monotonic()
        deadline = (within or Deadline.after(CEILING_S, now_s=started)).capped(ceiling_s, now_s=started)
        unsealer = self._unsealers[provider.exposure_profile]
        try:
            retrieval = await asker.ask(
                provider.source, replace(question, limit=limit), unsealer=unsealer, deadline=deadline
            )
        except ExchangeError as error:
            tried = Tried(trial=trial, error_code=outcome_code_of(error), retry_at=error.retry_at)
        else:
            tried = Tried(trial=trial, retrieval=retrieval)
        return replace(tried, duration_ms=round((self._clock.monotonic() - started) * 1000))
