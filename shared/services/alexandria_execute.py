"""Executes a priced tool of Alexandria, once.

find     a receipt under this request id: it is the answer, and nothing is sent
quote    unknown, ended or somebody else's: there is nothing to execute
begin    the receipt is written, by one of all that try: only that one sends
settle   what became of it. Whoever dies in between leaves a receipt that reads as unknown, and nobody sends again
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

from aws_lambda_powertools import Logger

from shared.domain.alexandria import (
    SETTINGS_URL,
    Call,
    Execution,
    Holder,
    Notice,
    Order,
    Quote,
    Receipt,
    ReceiptState,
    Trouble,
    upstream_id_of,
)
from shared.domain.alexandria_requests import Executed
from shared.domain.credentials import Principal
from shared.domain.deadlines import Deadline
from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import new_nonce
from shared.errors import Conflict, ExchangeTimeout, NotFound, Problem, Unavailable
from shared.observability import ALEXANDRIA_EXECUTED, PROVIDER_FAULT, RECEIPT_UNSETTLED, place_of
from shared.ports.alexandria import Alexandria
from shared.ports.clock import Clock
from shared.ports.quotes import Quotes
from shared.ports.receipts import Receipts
from shared.services.admit import Admit
from shared.services.at_once import in_time
from shared.services.open_alexandria import OpenAlexandria, Way, answered

# A tool has 20 s at the service; what comes back needs some more.
ATTEMPT_S: Final = 24.0
# Both lie beyond the deadline: what comes at the last moment is still taken, and written down.
_GRACE_S: Final = 0.5
_SETTLING_S: Final = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteToolRequest:
    """`order` is a Problem where the body could not be read: told to admitted callers alone."""

    token: str | None
    agent_id: str | None
    order: Order | Problem
    deadline: Deadline
    request_id: str


@dataclass(frozen=True, slots=True)
class _Begun:
    """This request, and no other, is the one that sends."""

    receipt: Receipt
    options: bytes = field(repr=False)
    way: Way


class ExecuteTool:
    """What the service answers, failures included, is told in the receipt. Raises what `Admit` raises, then the body's
    Problem, `Conflict` (`request_id_reused`, `terms_required`), `NotFound` (`quote_unknown`, and `not_found` without a
    provider to go through), `Unavailable`.
    """

    def __init__(
        self,
        *,
        admit: Admit,
        way: OpenAlexandria,
        alexandria: Alexandria,
        quotes: Quotes,
        receipts: Receipts,
        clock: Clock,
        logger: Logger,
    ) -> None:
        self._admit = admit
        self._way = way
        self._alexandria = alexandria
        self._quotes = quotes
        self._receipts = receipts
        self._clock = clock
        self._logger = logger

    async def __call__(self, request: ExecuteToolRequest) -> Executed:
        opening = await in_time(self._opening(request), deadline=request.deadline, clock=self._clock)
        return opening if isinstance(opening, Executed) else await self._carried_out(request, opening)

    async def _opening(self, request: ExecuteToolRequest) -> Executed | _Begun:
        """The receipt that is there already, or one of this very request's."""
        principal = await self._admit(request.token, classes=(CredentialClass.AGENT,), agent_id=request.agent_id)
        if isinstance(request.order, Problem):
            raise request.order
        order = request.order
        known = await self._receipts.find(Holder.of(principal), order.request_id)
        if known is not None and not self._may_replace(known, order):
            return self._repeated(known)
        quote = await self._quote(principal, order)
        way = await self._way(principal, named=quote.source_id, deadline=request.deadline)
        receipt = self._started(quote, order)
        there = await self._receipts.begin(receipt)
        if there is not None:
            self._check_same(there, order)
            return self._repeated(there)
        return _Begun(receipt, order.options, way)

    async def _quote(self, principal: Principal, order: Order) -> Quote:
        quote = await self._quotes.find(Holder.of(principal), order.quote_id)
        if quote is None:
            raise NotFound("There is no such quote for this caller, or it has ended.", code="quote_unknown")
        return quote

    def _may_replace(self, known: Receipt, order: Order) -> bool:
        """Raises `Conflict` when the request id already stands for something else."""
        self._check_same(known, order)
        return known.may_be_tried_again

    def _check_same(self, known: Receipt, order: Order) -> None:
        if known.fingerprint != order.fingerprint():
            raise Conflict("This request id belongs to another quote or other options.", code="request_id_reused")

    def _repeated(self, known: Receipt) -> Executed:
        receipt = known.seen_at(self._clock.now())
        had_result = receipt.state is ReceiptState.DONE and receipt.trouble is None
        return Executed(receipt=receipt, notices=(Notice.RESULT_NOT_KEPT,) if had_result else ())

    def _started(self, quote: Quote, order: Order) -> Receipt:
        return Receipt(
            holder=quote.holder,
            request_id=order.request_id,
            fingerprint=order.fingerprint(),
            claim=new_nonce(),
            quote_id=quote.id,
            tool=quote.tool,
            started_at=self._clock.now(),
        )

    async def _carried_out(self, request: ExecuteToolRequest, begun: _Begun) -> Executed:
        started_s = self._clock.monotonic()
        execution = await self._execution(request, begun)
        receipt = begun.receipt.settled(execution, now=self._clock.now())
        is_kept = await self._settled(receipt, request)
        self._report(request, receipt, begun.way, duration_s=self._clock.monotonic() - started_s)
        if execution.trouble is Trouble.TERMS_REQUIRED:
            raise _terms_required()
        notices = () if is_kept else (Notice.RECEIPT_NOT_SETTLED,)
        return Executed(receipt=receipt, result=execution.result, notices=notices)

    async def _execution(self, request: ExecuteToolRequest, begun: _Begun) -> Execution:
        receipt, way = begun.receipt, begun.way
        upstream_id = upstream_id_of(receipt.holder, receipt.request_id)
        call = Call(tool=receipt.tool, options=begun.options, upstream_id=upstream_id)
        latest = Deadline(request.deadline.at_s + _GRACE_S)
        work = self._alexandria.execute(way.source, call, meter=way.meter)
        try:
            return await answered(work, deadline=latest, clock=self._clock)
        except ExchangeTimeout:
            return Execution(state=ReceiptState.UNKNOWN, trouble=Trouble.TIMEOUT)
        except Exception as error:  # noqa: BLE001  # whatever happened, the call may have been carried out
            fault = place_of(error)
            self._logger.error(PROVIDER_FAULT, provider=way.source.id, fault=fault, request_id=request.request_id)
            return Execution(state=ReceiptState.UNKNOWN, trouble=Trouble.INTERNAL_ERROR)

    async def _settled(self, receipt: Receipt, request: ExecuteToolRequest) -> bool:
        try:
            async with asyncio.timeout(_SETTLING_S):
                await self._receipts.settle(receipt)
        except (Unavailable, TimeoutError):
            self._logger.warning(RECEIPT_UNSETTLED, request_id=request.request_id, state=receipt.state)
            return False
        return True

    def _report(self, request: ExecuteToolRequest, receipt: Receipt, way: Way, *, duration_s: float) -> None:
        """The one log line of an execution that was begun: never which tool, with what, or what came of it."""
        self._logger.info(
            ALEXANDRIA_EXECUTED,
            request_id=request.request_id,
            agent_id=request.agent_id,
            provider=way.source.id,
            state=receipt.state,
            trouble=receipt.trouble,
            credits=receipt.credits,
            duration_ms=round(duration_s * 1000),
        )


def _terms_required() -> Conflict:
    return Conflict(
        f"The terms of this tool's provider have to be accepted by a person first: {SETTINGS_URL}",
        code="terms_required",
        facts={"settingsUrl": SETTINGS_URL},
    )
