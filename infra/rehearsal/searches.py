"""Uses the deployed gateway as its users would: an operator registers two providers, an agent and a widget search."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from infra.cli.demo_providers import DEMOS, DemoProviders
from infra.cli.http import Client, Declined, Received
from infra.cli.seed import ORIGIN, Seeded, seed
from infra.rehearsal.steps import Failed

SEARCH = "/api/v1/knowledge/search"
WIDGET_SEARCH = "/api/v1/knowledge/widget/search"
CUSTOMER_FIELDS = {"title", "snippet", "url", "locale", "localeFallback"}
_QUERY = "refund"


@dataclass(frozen=True)
class DeployedClient(Client):
    """Calls the backend's address by the API's name, as a name server would have it."""

    host: str

    def send(
        self, method: str, path: str, data: bytes | None = None, *, within_s: float | None = None, **headers: str
    ) -> Received:
        return Client.send(self, method, path, data, within_s=within_s, **{"Host": self.host, **headers})


@dataclass(frozen=True, slots=True)
class Callers:
    """`endpoint_url` is the backend, `host` the deployed API's name."""

    endpoint_url: str
    host: str

    def bearer(self, token: str) -> DeployedClient:
        return DeployedClient(self.endpoint_url, token, self.host)


def read_what_is_public(callers: Callers) -> str:
    """Raises `Failed` unless the API lives, describes itself, and answers an unknown path with a problem."""
    nobody = callers.bearer("")
    if nobody.call("GET", "/livez").body.get("status") != "ok":
        raise Failed("The API shows no sign of life.")
    paths = nobody.call("GET", "/openapi.json").body["paths"]
    try:
        nobody.call("GET", "/nowhere")
    except Declined as declined:
        if (declined.status, declined.code) == (404, "not_found"):
            return f"a document of {len(paths)} paths; an unknown one is a 404"
        raise
    raise Failed("An unknown path was answered.")


def start_providers(directory: Path) -> DemoProviders:
    """A real public and a real internal provider, on loopback."""
    return DemoProviders(directory, ports={}, demos=[one for one in DEMOS if one.key in ("public", "internal")])


def register(callers: Callers, *, root_token: str, providers: DemoProviders) -> Seeded:
    """Registers, tests and activates the providers and issues credentials, all through the admin API."""
    seeded = Seeded()
    seed(callers.bearer(root_token), providers.by_key, seeded)
    return seeded


def search_as_agent(callers: Callers, seeded: Seeded) -> str:
    """Raises `Failed` unless both providers answered. Returns what was found."""
    body = callers.bearer(seeded.tokens["agent"]).post(SEARCH, {"query": _QUERY}).body
    outcomes = {outcome["id"]: (outcome["status"], outcome["resultCount"]) for outcome in body["providers"]}
    if body["status"] != "complete" or set(outcomes) != set(seeded.ids.values()):
        raise Failed(f"The agent's search is {body['status']}: {outcomes}")
    if any(status != "success" or not count for status, count in outcomes.values()):
        raise Failed(f"A provider found nothing for the agent: {outcomes}")
    return f"{len(body['results'])} results of {len(outcomes)} providers, public and internal"


def search_as_widget(callers: Callers, seeded: Seeded) -> str:
    """Raises `Failed` unless the answer holds public passages alone, in the customer's projection."""
    widget = callers.bearer(seeded.tokens["widget"])
    results = widget.post(WIDGET_SEARCH, {"query": _QUERY}, Origin=ORIGIN).body["results"]
    if not results:
        raise Failed("The widget found nothing.")
    if any(set(result) != CUSTOMER_FIELDS for result in results):
        raise Failed(f"The widget got other fields: {sorted({name for result in results for name in result})}")
    agent = callers.bearer(seeded.tokens["agent"]).post(SEARCH, {"query": _QUERY, "limit": 50}).body
    internal = {r["snippet"] for r in agent["results"] if r["provider"]["id"] == seeded.ids["internal"]}
    if any(result["snippet"] in internal for result in results):
        raise Failed("The widget got a passage of the internal provider.")
    _must_be_refused(widget)
    return f"{len(results)} results, public alone"


def _must_be_refused(widget: DeployedClient) -> None:
    try:
        widget.post(WIDGET_SEARCH, {"query": _QUERY}, Origin="https://elsewhere.example")
    except Declined as declined:
        if declined.status == 403:
            return
        raise
    raise Failed("The widget was answered on an origin that it does not list.")
