"""Alexandria in memory: the real routes, services, meter and kind over fakes, and a service that plays a script."""

from __future__ import annotations

import copy
import json
from typing import Any

from shared.domain.alexandria import Receipt
from shared.domain.credentials import Credential
from shared.domain.pools import Pool
from shared.domain.registrations import Provider
from shared.ports.exchange import OutboundAnswer
from tests.support.alexandria_fakes import TOOL
from tests.support.builders import a_token
from tests.support.fake_exchanges import Sent, Step, json_answer
from tests.support.live_stage import LiveStage
from tests.support.search_stage import Answered, event_of

OPTIONS = {"series": "ferry", "rows": 2}
NAME = {"provider": TOOL.provider, "capability": TOOL.capability}
KEYS = {"FIRECRAWL_API_KEY": "k-one", "FIRECRAWL_API_KEY_1": "k-two"}
_PATH = "/api/v1/knowledge/alexandria/"
_EVENT = event_of("acquire")


_ROWS = {"rows": [[2026, 4.1]]}


def ran(data: Any = _ROWS, *, cost: Any = 3, **over: Any) -> OutboundAnswer:
    """What the service answers to an execution that went well."""
    item = {**NAME, "creditsCost": cost, "data": data, **over}
    return json_answer({"success": True, "scrape_id": "s-1", "data": {"alexandria": [item], "creditsCost": cost}})


def refused(status: int, **fields: Any) -> OutboundAnswer:
    return json_answer({"success": False, "error": "UPSTREAM-WORDS", **fields}, status=status)


def priced(**over: Any) -> OutboundAnswer:
    """What the catalogue answers to an inspection."""
    tool = {**NAME, "name": "Observations", "description": "Numbers.", "creditsCost": 3, "perRecord": False, **over}
    item = {"provider": "firecrawl", "capability": "find-tools", "creditsCost": 0, "data": {"items": [tool]}}
    return json_answer({"success": True, "data": {"alexandria": [item], "creditsCost": 0}})


class AlexandriaStage(LiveStage):
    """`post` sends one request to one of the four verbs; `answers` scripts the service."""

    def __init__(self, **over: Any) -> None:
        super().__init__(**over)
        self.keys.entries[Pool.FIRECRAWL] = KEYS
        self.provider = self.add(name="Firecrawl")

    def answers(self, *steps: Step, provider: Provider | None = None) -> None:
        self.exchanges.script((provider or self.provider).id, *steps)

    def post(
        self, verb: str, body: Any, *, credential: Credential | None = None, token: Any = "", agent: str | None = None
    ) -> Answered:
        """`token` "" is the credential's own, by default the stage's; None is none. `body` may be text as it is."""
        token = a_token(credential or self.agent) if token == "" else token
        event = copy.deepcopy(_EVENT)
        event["rawPath"] = event["requestContext"]["http"]["path"] = _PATH + verb
        every = {**event["headers"], "authorization": f"Bearer {token}" if token else None}
        every["x-helpthread-agent-id"] = agent
        event["headers"] = {name: value for name, value in every.items() if value is not None}
        event["body"] = body if isinstance(body, str) else json.dumps(body)
        response = self.api.handle(event, None)
        return Answered(status=response["statusCode"], headers=response["headers"], text=response.get("body") or "")

    def quote(self, **over: Any) -> str:
        """The id of a new quote. `over` goes to `post`."""
        self.answers(priced())
        answer = self.post("inspect", {"tool": NAME}, **over)
        assert answer.status == 200, answer.text
        self.exchanges.sent.clear()
        return str(answer.json["quoteId"])

    def execute(self, quote_id: str, request_id: str = "r-1", *, options: Any = None, **over: Any) -> Answered:
        body = {"quoteId": quote_id, "requestId": request_id, "options": OPTIONS if options is None else options}
        return self.post("execute", body, **over)

    def receipt(self, request_id: str = "r-1", **over: Any) -> Answered:
        return self.post("receipt", {"requestId": request_id}, **over)

    @property
    def sent(self) -> list[Sent]:
        return self.exchanges.sent

    @property
    def kept(self) -> Receipt:
        """The one receipt that there is."""
        (receipt,) = self.receipts.kept.values()
        return receipt
