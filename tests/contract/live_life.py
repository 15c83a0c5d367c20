"""Everything that agents, operators and services do to a gateway, once: refusals of every kind, keys that run out and
are woken, sources that are fetched and tools that are executed.
"""

from __future__ import annotations

from typing import Any

import boto3

from shared.adapters.allowance_rows import place_of
from shared.domain.pools import Pool
from tests.contract.told import ACQUIRE, POOLS, QUESTION, SEARCH, WANTED, Gateway
from tests.support.admin_stage import Answered
from tests.support.indiscreet_services import MODES, Services
from tests.support.telltale import KEY, LISTED, OPTION, QUERY, REPOSITORY, TOOL, URL

PROVIDERS = "/api/v1/knowledge/providers"
ALLOWANCES = "/api/v1/knowledge/allowances"
ALEXANDRIA = "/api/v1/knowledge/alexandria"
HOSTS = ["docs.example.com"]
CONFIGS: dict[str, dict[str, Any]] = {
    "context7": {"approvedHosts": HOSTS},
    "deepwiki": {"repositories": [f"{LISTED}/widgets"]},
    "exa": {"approvedHosts": HOSTS},
    "firecrawl": {"approvedHosts": HOSTS},
    "mintlify": {"approvedHosts": HOSTS},
}


class Life:
    """Everything that is done to the gateway, once."""

    def __init__(self, gateway: Gateway, services: Services, *, ledger: str) -> None:
        self.gateway = gateway
        self.services = services
        self.ledger = ledger
        self.providers: dict[str, str] = {}
        self.quote: str | None = None

    def whole(self) -> None:
        self.register()
        for number, mode in enumerate(MODES):
            self.services.mode = mode
            self.ask(number)
            self.gateway.wake()
            self.put_back(number)
        self.services.mode = "ok"
        self.ask_for_what_is_not_there()
        self.end_leases()
        self.operate()
        self.services.mode = "hang"
        self.wait_in_vain()

    def register(self) -> None:
        for kind, config in CONFIGS.items():
            body = {"name": f"Live {kind}", "kind": kind, "exposureProfile": "agent_only", "config": config}
            created = self.gateway.call("admin", PROVIDERS, body)
            self.providers[kind] = created.json["id"]
            assert self.try_out(kind, activate=True).json["activated"]

    def put_back(self, number: int) -> None:
        """All of them: else one that refused is left alone, and never comes to the next thing that it can do."""
        for provider_id in self.providers.values():
            self.gateway.put_back(provider_id, priority=10 + number)

    def try_out(self, kind: str, **more: Any) -> Answered:
        needs = {"context7": ("query", "product"), "mintlify": ("query", "product"), "firecrawl": ()}
        body = {name: QUESTION[name] for name in needs.get(kind, ("query",))}
        if kind == "deepwiki":
            body |= {"repository": QUESTION["repository"]}
        wanted = {"url": WANTED} if kind == "firecrawl" else {}
        return self.gateway.call("admin", f"{PROVIDERS}/{self.providers[kind]}/test", body | wanted | more)

    def ask(self, number: int) -> None:
        """Twice, so that what was refused is also met resting."""
        for _ in range(2):
            self.gateway.search()
            for kind in ("exa", "firecrawl"):
                self.gateway.acquire(provider=self.providers[kind])
        tool = {"provider": TOOL, "capability": f"{TOOL}/rows"}
        self.gateway.call("live", f"{ALEXANDRIA}/search", {"query": f"tonnes {QUERY}"})
        inspected = self.gateway.call("live", f"{ALEXANDRIA}/inspect", {"tool": tool})
        self.quote = inspected.json.get("quoteId", self.quote)
        order = {"quoteId": self.quote, "requestId": f"report-{number}", "options": {"series": OPTION, OPTION: 1}}
        self.gateway.wake()
        for _ in range(2):
            self.gateway.call("live", f"{ALEXANDRIA}/execute", order)
        self.gateway.call("live", f"{ALEXANDRIA}/receipt", {"requestId": f"report-{number}"})
        for kind in CONFIGS:
            self.try_out(kind)

    def ask_for_what_is_not_there(self) -> None:
        search, acquire = self.gateway.search, self.gateway.acquire
        search(repository=f"{REPOSITORY}/{REPOSITORY}")
        self.gateway.call("search", SEARCH, {"query": QUERY, "repository": f"{REPOSITORY}/{REPOSITORY}"})
        search(freshness="force")
        search(query=QUERY, limit="5" + QUERY)
        search(providers=["nobody"])
        acquire(url=f"https://{URL}.example.org/page")
        acquire(url=f"https://user:{URL}@docs.example.com/page")
        acquire(url=f"https://docs.example.com/page?api_key={URL}")
        acquire(provider=URL)
        acquire(freshness=URL)
        call = self.gateway.call
        call("live", f"{ALEXANDRIA}/execute", {"quoteId": OPTION, "requestId": "r", "options": {OPTION: OPTION}})
        call("live", f"{ALEXANDRIA}/execute", {"quoteId": self.quote, "requestId": OPTION + " ", "options": OPTION})
        call("live", f"{ALEXANDRIA}/inspect", {"tool": {"provider": OPTION, "capability": OPTION}})

    def end_leases(self) -> None:
        """As if a minute had gone by: what never got an answer counts as unknown from now on."""
        dynamodb = boto3.client("dynamodb")
        for pool in Pool:
            place = place_of(pool)
            row = dynamodb.get_item(TableName=self.ledger, Key=place)["Item"]
            leases = [name for name in row if name.startswith("o_")]
            dynamodb.put_item(TableName=self.ledger, Item=row | {name: {"N": "1"} for name in leases})

    def operate(self) -> None:
        call = self.gateway.call
        call("admin", f"{POOLS}/exa/rest", {"key": "EXA_API_KEY", "seconds": 60})
        call("admin", f"{POOLS}/exa/rest", {"key": f"{KEY}-exa-first", "seconds": 60})
        for pool in Pool:
            shown = call("admin", f"{ALLOWANCES}/{pool}", method="GET")
            review = {"happened": shown.json["unknown"] - 1, "didNotHappen": 1}
            body = {"limit": 1_000, "review": review}
            assert call("admin", f"{ALLOWANCES}/{pool}", body, method="PUT", if_match=shown.etag).status == 200
        for path in (POOLS, ALLOWANCES, PROVIDERS, "/api/v1/audit?limit=100", "/api/v1/audit"):
            call("admin", path.partition("?")[0], method="GET")

    def wait_in_vain(self) -> None:
        """At the same time, as each takes seconds."""
        self.gateway.start("search", SEARCH, QUESTION | {"deadlineMs": 3_500})
        self.gateway.start("live", ACQUIRE, {"url": WANTED, "deadlineMs": 4_000})
        self.gateway.finish("search", SEARCH)
        self.gateway.finish("live", ACQUIRE)
