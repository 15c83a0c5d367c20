"""Everything that operators and callers do with self-hosted servers, once: they are registered, tried, listed, bound
and changed, and searched on every path, while they answer in every way that they can.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tests.contract.told import SEARCH, Gateway
from tests.support.admin_stage import INSTANCES, PROVIDERS, Answered
from tests.support.indiscreet_servers import MODES, OURS_NEVER, Servers
from tests.support.search_stage import ORIGIN
from tests.support.telltale import KEY, QUERY, REMOTE

WIDGET: Final = "/api/v1/knowledge/widget/search"
DIFY: Final = "/api/v1/dify/retrieval"
AUDIT: Final = "/api/v1/audit"
PRODUCTS: Final = ("dify", "fastgpt", "ragflow")
LANES: Final = ("customer_safe", "agent_only")
ASKED: Final = f"how are fares refunded {QUERY}"
# What nobody may be told with, in whatever status a server refuses the gateway's own credential.
NOT_OURS: Final = frozenset({401, 403, 407, 429})

Call = tuple[str, str, object, dict[str, Any]]  # function, path, body, and how


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    agent: str  # with the grant that Dify's path needs
    assistant: str
    widget: str


def key_of(kind: str, lane: str, *, number: int = 1) -> str:
    return f"{KEY}-{kind}-{lane}-{number}"


def retrieval(knowledge: str) -> dict[str, Any]:
    setting = {"top_k": 10, "score_threshold": 0.0}
    return {"query": ASKED, "knowledge_id": knowledge, "retrieval_setting": setting, "metadata_condition": None}


class Life:
    """Everything that is done, once. `relayed` are the answers while servers refused the gateway's credential."""

    def __init__(self, gateway: Gateway, servers: Servers, tokens: Tokens) -> None:
        self.gateway = gateway
        self.servers = servers
        self.tokens = tokens
        self.instances: dict[tuple[str, str], Answered] = {}
        self.providers: dict[tuple[str, str], Answered] = {}
        self.relayed: list[Answered] = []

    def whole(self) -> None:
        self.register()
        for number, (mode, lane) in enumerate(zip(("ok", *MODES), itertools.cycle(LANES), strict=False)):
            self.servers.mode = mode
            before = len(self.gateway.told.answers)
            self.live(lane)
            if mode in OURS_NEVER:
                self.relayed += [answered for _, answered in self.gateway.told.answers[before:]]
            self.put_back(number)
        self.servers.mode = "ok"
        self.change()
        self.ask_for_what_is_not_there()
        self.servers.mode = "hang"
        self.wait_in_vain()

    def register(self) -> None:
        for lane in LANES:
            for kind in PRODUCTS:
                self.instances[kind, lane] = self.instance(kind, lane)
                self.providers[kind, lane] = self.bind(kind, lane)
            self.providers["dify_external", lane] = self.external(lane)

    def instance(self, kind: str, lane: str) -> Answered:
        body = {
            "name": f"{kind} {lane}",
            "kind": kind,
            "exposureProfile": lane,
            "baseUrl": self.servers.origins[kind],
            "credential": {"action": "replace", "value": key_of(kind, lane)},
            "credentialReachesPublicContentOnly": lane == "customer_safe",
        }
        return self.done("POST", INSTANCES, body)

    def bind(self, kind: str, lane: str, **over: Any) -> Answered:
        return self.done("POST", PROVIDERS, self.binding(kind, lane, **over))

    def binding(self, kind: str, lane: str, **over: Any) -> dict[str, Any]:
        return {
            "name": f"Bound {kind} {lane}",
            "kind": kind,
            "instanceId": self.instances[kind, lane].json["id"],
            "remoteId": f"{REMOTE}-{kind}",
            "testQuery": ASKED,
            **over,
        }

    def external(self, lane: str) -> Answered:
        body = {
            "name": f"External {lane}",
            "kind": "dify_external",
            "exposureProfile": lane,
            "baseUrl": self.servers.origins["dify_external"],
            "credential": {"action": "replace", "value": key_of("dify_external", lane)},
            "credentialReachesPublicContentOnly": lane == "customer_safe",
            "config": {"knowledgeId": f"{REMOTE}-external"},
            "testQuery": ASKED,
        }
        return self.done("POST", PROVIDERS, body)

    def live(self, lane: str) -> None:
        """Everybody's calls at the same time: searches on all three paths, and what operators try meanwhile."""
        calls = [*self.searches(), *self.trials(lane)]
        for function, path, body, how in calls:
            self.gateway.start(function, path, body, **how)
        for function, path, *_ in calls:
            self.gateway.finish(function, path)
        self.again()

    def again(self) -> None:
        """Until whoever refuses or fails is also met left alone, by agents and on both ways of customers."""
        agents, customers, visitors, *_ = self.searches()
        for function, path, body, how in (agents, agents, customers, visitors):
            self.gateway.call(function, path, body, **how)

    def put_back(self, number: int) -> None:
        """All of them: else one that failed is left alone, and never comes to the next thing that it can do."""
        for provider in self.providers.values():
            self.gateway.put_back(provider.json["id"], priority=10 + number)

    def searches(self) -> Iterator[Call]:
        """Also on Dify's path, with both classes."""
        tokens = self.tokens
        yield "search", SEARCH, {"query": ASKED, "limit": 20}, {}
        yield "search", SEARCH, {"query": ASKED, "limit": 20}, {"token": tokens.assistant}
        yield "widget", WIDGET, {"query": ASKED}, {"token": tokens.widget, "origin": ORIGIN}
        for knowledge, token in (("all", tokens.agent), ("public", tokens.assistant)):
            yield "search", DIFY, retrieval(knowledge), {"token": token}

    def trials(self, lane: str) -> Iterator[Call]:
        """Tests, lists, details, and bindings that come to nothing unless the server is well."""
        for kind in (*PRODUCTS, "dify_external"):
            yield "admin", f"{PROVIDERS}/{self.providers[kind, lane].json['id']}/test", {"query": ASKED}, {}
        for kind in PRODUCTS:
            instance = f"{INSTANCES}/{self.instances[kind, lane].json['id']}"
            yield "admin", f"{instance}/test", {"query": ASKED, "remoteId": f"{REMOTE}-{kind}"}, {}
            page = "/catalog" if lane == "agent_only" else f"/catalog/{REMOTE}-{kind}"
            yield "admin", f"{instance}{page}", None, {"method": "GET"}
            other = self.binding(kind, lane, name="Another", remoteId=f"{REMOTE}-other")
            yield "admin", PROVIDERS, other, {"idempotency_key": f"{self.servers.mode}-{kind}-1234567890"}

    def change(self) -> None:
        """Credentials are replaced, settings are changed and restored, things are deleted."""
        for kind in PRODUCTS:
            instance = f"{INSTANCES}/{self.instances[kind, 'agent_only'].json['id']}"
            replaced = {"action": "replace", "value": key_of(kind, "agent_only", number=2)}
            self.changed("PATCH", instance, {"credential": replaced})
            provider = f"{PROVIDERS}/{self.providers[kind, 'agent_only'].json['id']}"
            self.changed("PATCH", provider, {"resultLimit": 7, "testQuery": ASKED})
            self.changed("POST", f"{provider}/restore-defaults", {"testQuery": ASKED})
        taken = {"action": "replace", "value": key_of("ragflow", "customer_safe")}
        self.admin("PATCH", instance, {"credential": taken}, if_match=self.admin("GET", instance).etag)
        self.admin("DELETE", instance, if_match=self.admin("GET", instance).etag)
        for path in (INSTANCES, PROVIDERS, AUDIT):
            self.done("GET", path)

    def ask_for_what_is_not_there(self) -> None:
        instance = f"{INSTANCES}/{self.instances['dify', 'agent_only'].json['id']}"
        self.admin("GET", f"{instance}/catalog/{QUERY}%0A")
        self.admin("POST", f"{instance}/test", {"query": QUERY})
        self.admin("POST", INSTANCES, {"name": "x", "kind": "dify", "credential": {"value": f"{KEY} {KEY}"}})
        self.admin("POST", PROVIDERS, self.binding("dify", "agent_only", testQuery=QUERY * 40))
        self.admin("POST", PROVIDERS, self.binding("dify", "agent_only", config={"retrievalModel": QUERY}))
        self.gateway.call("search", SEARCH, {"query": f"{QUERY} " * 40})
        self.gateway.call("search", DIFY, retrieval(QUERY), token=self.tokens.agent)
        self.gateway.call("search", DIFY, retrieval(QUERY), token=self.tokens.assistant)

    def wait_in_vain(self) -> None:
        """At the same time, as each takes seconds."""
        body = {"query": ASKED, "deadlineMs": 1_500}
        test = f"{PROVIDERS}/{self.providers['dify_external', 'agent_only'].json['id']}"
        generation = self.admin("GET", test).etag
        self.gateway.call("admin", test, {"requestTimeoutMs": 1_000}, method="PATCH", if_match=generation)
        self.gateway.start("search", SEARCH, body)
        self.gateway.start("admin", f"{test}/test", {"query": ASKED})
        self.gateway.finish("search", SEARCH)
        self.gateway.finish("admin", f"{test}/test")

    def admin(self, method: str, path: str, body: object = None, **headers: str) -> Answered:
        return self.gateway.call("admin", path, body, method=method, **headers)

    def done(self, method: str, path: str, body: object = None, **headers: str) -> Answered:
        answered = self.admin(method, path, body, **headers)
        assert answered.status < 300, answered.text
        return answered

    def changed(self, method: str, path: str, body: object) -> Answered:
        of = path.removesuffix("/restore-defaults")
        return self.done(method, path, body, if_match=self.done("GET", of).etag)
