"""Tries a provider that speaks the contract."""

from __future__ import annotations

from dataclasses import replace

from shared.domain.outcomes import OutcomeCode, outcome_code_of
from shared.domain.registrations import Provider
from shared.domain.trials import TRIAL_LIMIT, Trial, Tried, Wish, question_of
from shared.errors import ExchangeError
from shared.ports.clock import Clock
from shared.ports.retriever import Retriever
from shared.services.open_line import OpenLine


class TrySigned:
    def __init__(self, *, retriever: Retriever, open_line: OpenLine, clock: Clock) -> None:
        self._retriever = retriever
        self._open_line = open_line
        self._clock = clock

    async def __call__(self, provider: Provider, wish: Wish) -> Tried:
        """A provider that fails is a result. Raises `Invalid` for a wish that is no question, `Unavailable`."""
        question = question_of(wish)
        limits = self._retriever.limits
        line = await self._open_line(provider, timeout_s=limits.timeout_s)
        limit = min(TRIAL_LIMIT, limits.results)
        trial = Trial(timeout_ms=line.timeout_ms, limit=limit, signatures=1 if line.secrets.previous is None else 2)
        if len(question.query) > limits.query_characters:
            return Tried(trial=trial, error_code=OutcomeCode.QUERY_TOO_LONG)
        started = self._clock.monotonic()
        try:
            retrieval = await self._retriever.retrieve(
                provider.source, replace(question, limit=limit), secrets=line.secrets, exchange=line.exchange
            )
        except ExchangeError as error:
            code, duration_ms = outcome_code_of(error), self._since_ms(started)
            return Tried(trial=trial, error_code=code, retry_at=error.retry_at, duration_ms=duration_ms)
        return Tried(trial=trial, retrieval=retrieval, duration_ms=self._since_ms(started))

    def _since_ms(self, started: float) -> int:
        return round((self._clock.monotonic() - started) * 1000)
