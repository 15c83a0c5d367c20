"""Says what became of an execution. Asks nobody but the gateway's own store."""

from __future__ import annotations

from dataclasses import dataclass

from shared.domain.alexandria import Holder, Receipt
from shared.domain.credentials import Principal
from shared.domain.deadlines import Deadline
from shared.domain.exposure import CredentialClass
from shared.errors import NotFound, Problem
from shared.ports.clock import Clock
from shared.ports.receipts import Receipts
from shared.services.admit import Admit
from shared.services.at_once import in_time


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadReceiptRequest:
    """`wanted` is the request id of the execution, or a Problem where the body could not be read."""

    token: str | None
    agent_id: str | None
    wanted: str | Problem
    deadline: Deadline


class ReadReceipt:
    """Raises what `Admit` raises, then the body's Problem, `NotFound`, `Unavailable`. No provider is needed: what was
    spent can be read when its registration is gone.
    """

    def __init__(self, *, admit: Admit, receipts: Receipts, clock: Clock) -> None:
        self._admit = admit
        self._receipts = receipts
        self._clock = clock

    async def __call__(self, request: ReadReceiptRequest) -> Receipt:
        return await in_time(self._read(request), deadline=request.deadline, clock=self._clock)

    async def _read(self, request: ReadReceiptRequest) -> Receipt:
        principal: Principal = await self._admit(
            request.token, classes=(CredentialClass.AGENT,), agent_id=request.agent_id
        )
        if isinstance(request.wanted, Problem):
            raise request.wanted
        receipt = await self._receipts.find(Holder.of(principal), request.wanted)
        if receipt is None:
            raise NotFound("There is no receipt for this request id.")
        return receipt.seen_at(self._clock.now())
