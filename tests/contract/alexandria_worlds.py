"""Alexandria over the real stores: everything else is in memory."""

from __future__ import annotations

from typing import Any

from shared.domain.alexandria import Holder, Order, canonical
from shared.domain.deadlines import Deadline
from shared.services.alexandria_execute import ExecuteToolRequest
from tests.contract.worlds import StoreWorld
from tests.support.alexandria_stage import OPTIONS, AlexandriaStage
from tests.support.builders import a_token
from tests.support.fake_exchanges import HANGS

PROVIDER_ID = "ao_aaaaaaaaaaaaaaaa"


def stage_over(world: StoreWorld, *, holder: Holder) -> AlexandriaStage:
    """A stage whose agent is `holder`, whose provider has a fixed id, and whose service never answers."""
    stage = AlexandriaStage(clock=world.clock)
    verbs = stage.parts.alexandria
    verbs.inspect._quotes = verbs.execute._quotes = world.quotes()
    verbs.receipt._receipts = verbs.execute._receipts = world.receipts()
    stage.agent = stage.add_credential(id=holder.credential_id)
    stage.provider = stage.add(id=PROVIDER_ID, priority=0)
    stage.answers(HANGS)
    return stage


def request_of(stage: AlexandriaStage, quote_id: str, request_id: str = "r-1", **options: Any) -> ExecuteToolRequest:
    return ExecuteToolRequest(
        token=a_token(stage.agent),
        agent_id=None,
        order=Order(quote_id=quote_id, request_id=request_id, options=canonical(OPTIONS | options)),
        deadline=Deadline.after(25.0, now_s=stage.clock.monotonic()),
        request_id="JKJaXmPLvHcESHA=",
    )
