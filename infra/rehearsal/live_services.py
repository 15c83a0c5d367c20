"""Uses live services through the deployed gateway: keys out of its secrets, units out of its ledger."""

from __future__ import annotations

from infra.cli.demo_live import DOCUMENTS, LIVE_DEMOS, keep_demo_keys, seed_live
from infra.cli.http import Declined
from infra.cli.pool_secrets import deployed_store
from infra.cli.seed import Seeded
from infra.rehearsal.searches import SEARCH, Callers
from infra.rehearsal.steps import Failed
from infra.stack_name import STACK_NAME

ACQUIRE = "/api/v1/knowledge/acquire"
ALEXANDRIA = "/api/v1/knowledge/alexandria"
_ALLOWANCES = "/api/v1/knowledge/allowances"
_QUERY = "open a gate"
_TOOL = "tide predictions"
PAGE = f"https://{DOCUMENTS}/gangway/boarding"


def register_live(callers: Callers, seeded: Seeded, *, root_token: str) -> str:
    """As the operator; the deployed admin function tests each service. Raises `Failed`, `SeedFailed`, `NoStore`."""
    keep_demo_keys(deployed_store(STACK_NAME))
    seed_live(callers.bearer(root_token), seeded)
    if seeded.inactive:
        raise Failed(f"Live services that did not pass their test: {seeded.inactive}")
    return f"{len(LIVE_DEMOS)} services, each tested once"


def search_live(callers: Callers, seeded: Seeded) -> str:
    """Raises `Failed` unless every service that answers searches has answered this one."""
    wanted = {seeded.ids[demo.kind]: demo.kind for demo in LIVE_DEMOS if demo.kind != "firecrawl"}
    body = callers.bearer(seeded.tokens["agent"]).post(SEARCH, {"query": _QUERY, "providers": list(wanted)}).body
    outcomes = {wanted[each["id"]]: each["status"] for each in body["providers"]}
    if set(outcomes) != set(wanted.values()) or set(outcomes.values()) - {"success", "empty"}:
        raise Failed(f"The live services answered: {outcomes}")
    return f"{len(body['results'])} results of {', '.join(sorted(outcomes))}"


def fetch_one_source(callers: Callers, seeded: Seeded) -> str:
    """Raises `Failed` unless an approved page comes with its text, and a page elsewhere does not."""
    agent = callers.bearer(seeded.tokens["agent"])
    fetched = agent.post(ACQUIRE, {"url": PAGE, "provider": seeded.ids["firecrawl"]}).body
    if fetched["finalUrl"] != PAGE or not fetched["text"]:
        raise Failed(f"The page came from {fetched['finalUrl']}, {len(fetched['text'])} characters.")
    try:
        agent.post(ACQUIRE, {"url": "https://elsewhere.example/"})
    except Declined as declined:
        if declined.status in (404, 422):
            return f"{len(fetched['text'])} characters of an approved page; another page is a {declined.status}"
        raise
    raise Failed("A page that nobody approved was fetched.")


def run_a_tool(callers: Callers, seeded: Seeded) -> str:
    """Raises `Failed` unless a tool is found and priced, runs once however often it is ordered, and has a receipt."""
    agent = callers.bearer(seeded.tokens["agent"])
    tool = agent.post(f"{ALEXANDRIA}/search", {"query": _TOOL}).body["tools"][0]["tool"]
    order = {
        "quoteId": agent.post(f"{ALEXANDRIA}/inspect", {"tool": tool}).body["quoteId"],
        "requestId": "rehearsal-1",
        "options": {"harbour": "Ostrand"},
    }
    first, again = (agent.post(f"{ALEXANDRIA}/execute", order).body for _ in range(2))
    receipt = agent.post(f"{ALEXANDRIA}/receipt", {"requestId": order["requestId"]}).body
    if first["receipt"] != receipt or again["receipt"] != receipt or again["result"] is not None:
        raise Failed(f"The tool's receipts: {first['receipt']}, {again['receipt']}, {receipt}")
    return f"{tool['provider']} {tool['capability']} ran once for {receipt['cost']['credits']} credits"


def count_operations(callers: Callers, *, root_token: str) -> str:
    """Raises `Failed` unless every service's operations were counted, with none left unknown."""
    allowances = callers.bearer(root_token).call("GET", _ALLOWANCES).body["allowances"]
    used = {each["pool"]: each["confirmed"] for each in allowances}
    if set(used) != {demo.kind for demo in LIVE_DEMOS} or not all(used.values()):
        raise Failed(f"Counted operations: {used}")
    if any(each["unknown"] for each in allowances):
        raise Failed("Some operations are unknown.")
    return f"operations counted: {', '.join(f'{pool} {units}' for pool, units in sorted(used.items()))}"
