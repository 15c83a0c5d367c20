"""Searches for a customer: what assistants and the widget answer with.

Knows the customer catalogue and the key of the customer's exposure, and no other. There is nothing to choose here.
"""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from aws_lambda_powertools import Logger

from shared.domain.customer_answers import CustomerAnswer, customer_answer
from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.merging import merged
from shared.domain.passages import Question
from shared.domain.replies import sifted
from shared.errors import Problem
from shared.ports.clock import Clock
from shared.ports.customer_catalog import CustomerCatalog
from shared.ports.secret_box import Unsealer
from shared.services.at_once import opened
from shared.services.fan_out import Inquiry
from shared.services.guarded_asking import GuardedAsking
from shared.services.report_search import report_search


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerRequest:
    """`question` is a Problem where the body could not be read: told to admitted callers alone."""

    question: Question | Problem
    deadline: Deadline
    request_id: str


class SearchForCustomer:
    """`admission` runs beside the read of the catalogue; nobody is asked, and nothing said, unless it succeeds.

    Raises what the admission raises, then the body's Problem, `Unavailable` when the store cannot be used.
    """

    def __init__(
        self, *, catalog: CustomerCatalog, unsealer: Unsealer, asking: GuardedAsking, clock: Clock, logger: Logger
    ) -> None:
        self._catalog = catalog
        self._unsealer = unsealer
        self._asking = asking
        self._clock = clock
        self._logger = logger

    async def __call__(self, request: CustomerRequest, *, admission: Coroutine[Any, Any, object]) -> CustomerAnswer:
        started_s = self._clock.monotonic()
        reading = self._asking.beside(self._catalog.sources())
        _, (sources, known) = await opened(admission, reading, deadline=request.deadline, clock=self._clock)
        if isinstance(request.question, Problem):
            raise request.question
        question = request.question
        inquiries = [Inquiry(source=s.source, question=question, unsealer=self._unsealer) for s in sources]
        asked = await self._asking.ask(inquiries, known=known, deadline=request.deadline, request_id=request.request_id)
        replies = [sifted(reply, ExposureProfile.CUSTOMER_SAFE) for reply in asked]
        answer = customer_answer(merged(replies, limit=question.limit), locale=question.locale)
        report_search(
            self._logger,
            request_id=request.request_id,
            lane="customer",
            replies=replies,
            results=len(answer.results),
            duration_s=self._clock.monotonic() - started_s,
        )
        return answer
