"""Asks all sources at once, under one deadline. What goes wrong at one costs that one alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from aws_lambda_powertools import Logger

from shared.domain.bindings import common_of
from shared.domain.deadlines import Deadline
from shared.domain.outcomes import OutcomeCode, outcome_code_of
from shared.domain.passages import Question, Retrieval, Warning_
from shared.domain.registrations import ProviderKind, Source
from shared.domain.replies import Reply, reply_with, reply_without
from shared.errors import ExchangeError, NotAsked, Refused
from shared.observability import PROVIDER_FAULT, place_of
from shared.ports.asker import Asker
from shared.ports.clock import Clock
from shared.ports.secret_box import Unsealer

_LETTING_GO_S = 0.02

Replies: TypeAlias = "tuple[Reply, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """One source, what to ask it, and the opener of its secret. Whether it may be asked was decided before."""

    source: Source
    question: Question
    unsealer: Unsealer


class FanOut:
    """`ask` answers by the deadline, in the order of the inquiries, one reply each, and raises nothing of a source's.

    Replies are not filtered by audience yet. What is late is cancelled and counts as `timeout`; a source that ignores
    its cancellation is not waited for. A source of a kind without an asker is `not_configured`.
    """

    def __init__(self, *, askers: Mapping[ProviderKind, Asker], clock: Clock, logger: Logger) -> None:
        self._askers = askers
        self._clock = clock
        self._logger = logger
        self._left_running: set[asyncio.Task[Reply]] = set()

    async def ask(self, inquiries: Sequence[Inquiry], *, deadline: Deadline, request_id: str) -> Replies:
        """Cancelling this cancels every question under way."""
        if not inquiries:
            return ()
        started_s = self._clock.monotonic()
        tasks = [asyncio.create_task(self._reply(i, deadline=deadline, request_id=request_id)) for i in inquiries]
        try:
            in_time, _ = await asyncio.wait(tasks, timeout=deadline.remaining_s(started_s))
            waited_ms = self._since_ms(started_s)
        finally:
            await self._let_go(tasks)
        return tuple(
            _reply_of(task, inquiry.source, in_time=task in in_time, waited_ms=waited_ms)
            for task, inquiry in zip(tasks, inquiries, strict=True)
        )

    def limit_s(self, source: Source) -> float:
        """How long the source may take by what its kind and its own settings allow."""
        asker, common = self._askers.get(source.kind), common_of(source.config)
        limit_s = asker.limits.timeout_s if asker else 0.0
        return min(limit_s, common.request_timeout_ms / 1000) if common else limit_s

    async def _let_go(self, tasks: Iterable[asyncio.Task[Reply]]) -> None:
        """Cancels what is still running and gives it a moment to close its connection."""
        late = [task for task in tasks if not task.done()]
        if not late:
            return
        for task in late:
            task.cancel()
        _, stubborn = await asyncio.wait(late, timeout=_LETTING_GO_S)
        for task in stubborn:
            self._left_running.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Reply]) -> None:
        self._left_running.discard(task)
        if not task.cancelled():
            task.exception()  # taken, so that the loop does not report it

    async def _reply(self, inquiry: Inquiry, *, deadline: Deadline, request_id: str) -> Reply:
        started_s = self._clock.monotonic()
        try:
            retrieval = await self._retrieval(inquiry, deadline=deadline)
            return reply_with(inquiry.source, retrieval, duration_ms=self._since_ms(started_s))
        except NotAsked as error:
            return reply_without(inquiry.source, outcome_code_of(error), was_asked=False)
        except ExchangeError as error:
            code, retry_at = outcome_code_of(error), error.retry_at
        except asyncio.CancelledError as error:
            if _is_being_cancelled():
                raise
            code, retry_at = self._fault(inquiry.source, error, request_id), None
        except Exception as error:  # noqa: BLE001  # a fault at one source must not cost the others
            code, retry_at = self._fault(inquiry.source, error, request_id), None
        return reply_without(inquiry.source, code, duration_ms=self._since_ms(started_s), retry_at=retry_at)

    async def _retrieval(self, inquiry: Inquiry, *, deadline: Deadline) -> Retrieval:
        source, question = inquiry.source, inquiry.question
        asker = self._askers.get(source.kind)
        if asker is None:
            raise Refused(OutcomeCode.NOT_CONFIGURED)
        limits = asker.limits
        if len(question.query) > limits.query_characters:
            raise Refused(OutcomeCode.QUERY_TOO_LONG)
        question = replace(question, limit=min(question.limit, limits.results))
        retrieval = await asker.ask(source, question, unsealer=inquiry.unsealer, deadline=deadline)
        return _at_most(question.limit, retrieval)

    def _fault(self, source: Source, error: BaseException, request_id: str) -> OutcomeCode:
        self._logger.error(PROVIDER_FAULT, provider=source.id, fault=place_of(error), request_id=request_id)
        return OutcomeCode.INTERNAL_ERROR

    def _since_ms(self, started_s: float) -> int:
        return round((self._clock.monotonic() - started_s) * 1000)


def _reply_of(task: asyncio.Task[Reply], source: Source, *, in_time: bool, waited_ms: int) -> Reply:
    if not in_time:
        return reply_without(source, OutcomeCode.TIMEOUT, duration_ms=waited_ms)
    if task.cancelled():  # it cancelled itself
        return reply_without(source, OutcomeCode.INTERNAL_ERROR, duration_ms=waited_ms)
    return task.result()


def _at_most(limit: int, retrieval: Retrieval) -> Retrieval:
    """A retriever cuts its surplus itself; one that does not must not gain by it."""
    if len(retrieval.passages) <= limit:
        return retrieval
    warnings = tuple(dict.fromkeys((*retrieval.warnings, Warning_.SURPLUS_CUT)))
    return replace(retrieval, passages=retrieval.passages[:limit], warnings=warnings)


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
