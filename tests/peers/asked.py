"""The calls that every client makes of the running demo, and what REST says to the same with the same credential."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.e2e.running import COLLECTIONS, SEARCH, Gateway, call
from tests.peers.heard import Planned

ACQUIRE = "/api/v1/knowledge/acquire"
QUERY = "refund override code"
BOARDING = "https://docs.harbour.test/gangway/boarding"
_CREDENTIALS: dict[str, dict[str, Any]] = {
    "agent": {"class": "agt"},
    "assistant": {"class": "ast", "grants": ["knowledge:read_public"]},
}
# What is another in each answer to the same question.
_OF_ITS_ANSWER = frozenset({"requestId", "durationMs"})


class Asked:
    """`plan` are calls of tools, by what they are there for. No call waits for the demo's slow provider, which is for
    agents.
    """

    def __init__(self, gateway: Gateway, caller: str) -> None:
        ids = {key: each["id"] for key, each in gateway.local["providers"].items()}
        narrowed = {"providers": [ids["public"], ids["internal"]]} if caller == "agent" else {}
        self._gateway = gateway
        self._answered: dict[str, dict[str, Any]] = {}
        self.broken = ids["broken"]
        self.url = f"{gateway.url}/mcp"
        self.token = gateway.credential(**_CREDENTIALS[caller], ratePerMinute=10_000)
        self._search = {"query": QUERY, "limit": 3, **narrowed}
        self._cards = {"collectionId": gateway.local["collection"]}
        self.plan = {
            "search": Planned("knowledge_search", self._search),
            "nothing": Planned("knowledge_search", {**self._search, "query": "xylophone"}),
            "all failed": Planned("knowledge_search", {"query": QUERY, "providers": [self.broken]}),
            "wrong type": Planned("knowledge_search", {"query": QUERY, "limit": "three"}),
            "unknown argument": Planned("knowledge_search", {"query": QUERY, "audience": "internal"}),
            "look-up": Planned("glossary_lookup", {**self._cards, "terms": ["渡轮卡", "fare"]}),
            "match": Planned("glossary_match", {**self._cards, "text": "渡轮卡怎么续费?"}),
            "fetched": Planned("knowledge_acquire", {"url": BOARDING}),
            "no tool": Planned("knowledge_forget", {}),
        }

    def rest(self, key: str) -> dict[str, Any]:
        """What the operation answers that does the same as the planned call. Asked once."""
        if key not in self._answered:
            self._answered[key] = self._asked(key)
        return self._answered[key]

    def _asked(self, key: str) -> dict[str, Any]:
        arguments = dict(self.plan[key].arguments)
        cards = f"{COLLECTIONS}/{arguments.pop('collectionId', '')}/context-cards"
        path = {
            "knowledge_search": SEARCH,
            "knowledge_acquire": ACQUIRE,
            "glossary_lookup": f"{cards}/lookup",
            "glossary_match": f"{cards}/match",
        }[self.plan[key].tool]
        return call(self._gateway.url, "POST", path, arguments, token=self.token).found


def always(answer: Any) -> Any:
    """What is the same in every answer to the same question."""
    if isinstance(answer, Mapping):
        return {name: always(value) for name, value in answer.items() if name not in _OF_ITS_ANSWER}
    return [always(each) for each in answer] if isinstance(answer, list) else answer
