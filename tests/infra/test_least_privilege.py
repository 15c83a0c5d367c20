"""Both ways: what the functions ask of AWS is allowed by their roles, and nothing is allowed that they never ask.

The functions run here as they are deployed, each wired from its own variables alone, against the embedded backend.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import boto3
import pytest

from fixtures.stand_ins.control import Control
from fixtures.stand_ins.server import StandIns
from fixtures.stand_ins.services import services
from functions.admin.api import admin_api
from functions.admin.wiring import wired as wired_admin
from functions.live.routes import api_for as live_api
from functions.live.wiring import wired as wired_live
from functions.lookup.routes import api_for as lookup_api
from functions.lookup.wiring import wired as wired_lookup
from functions.mcp.routes import api_for as mcp_api
from functions.mcp.wiring import wired as wired_mcp
from functions.probe.run import Probe
from functions.probe.wiring import wired as wired_probe
from functions.search.routes import api_for as search_api
from functions.search.wiring import wired as wired_search
from functions.widget.routes import api_for as widget_api
from functions.widget.wiring import wired as wired_widget
from infra.cli.demo_live import LIVE_DEMOS, LiveDemo, keep_demo_keys
from infra.cli.pool_secrets import embedded_store
from infra.functions import FUNCTIONS
from infra.local.functions import environments
from infra.local.provision import client_environment
from infra.pools import POOL_VARIABLES
from shared.adapters.circuits import DynamoCircuits
from shared.adapters.event_loop import ProcessLoop
from shared.adapters.row_reads import RowReads
from shared.domain.circuits import Circuit
from shared.observability import logger_for
from shared.services import circuit_writer
from tests.infra.instance_life import run_instances
from tests.infra.permissions import Asked, Granted, Recorder, granted, matches
from tests.infra.probe_life import Context, look_at_providers
from tests.infra.synthesised import Synthesised
from tests.support import emulator as backend
from tests.support.hostile_provider import HostileProvider, hostile_provider
from tests.support.service_calls import heard

ORIGIN = "https://help.fern-desk.test"
PROVIDERS = "/api/v1/knowledge/providers"
CREDENTIALS = "/api/v1/credentials"
COLLECTIONS = "/api/v1/collections"
SEARCH = "/api/v1/knowledge/search"
ACQUIRE = "/api/v1/knowledge/acquire"
ALEXANDRIA = "/api/v1/knowledge/alexandria"
POOLS = "/api/v1/knowledge/pools"
HEALTH = "/api/v1/knowledge/health"
ALLOWANCES = "/api/v1/knowledge/allowances"
WIDGET_SEARCH = "/api/v1/knowledge/widget/search"

CALLED = ("search", "widget", "lookup", "live", "mcp", "admin", "probe")
# Allowed and asked for by nobody here, each with its reason. Empty is the aim.
UNASKED: dict[str, set[Granted]] = {name: set() for name in CALLED}

INTERNAL = {
    "TableRegistrationsInternal.Arn",
    "TableLedgerInternal.Arn",
    "TableCards.Arn",
    "KeyInternal.Arn",
    "RootSecret.Id",
    "PoolContext7.Id",
    "PoolExa.Id",
    "PoolFirecrawl.Id",
}
LIVE_KINDS = ("context7", "deepwiki", "exa", "firecrawl", "mintlify")

Handle = Callable[[dict[str, Any], Any], dict[str, Any]]


@dataclass
class Gateway:
    """The deployed functions, one process each, with the recorder listening."""

    handlers: dict[str, Handle]
    recorder: Recorder
    probe: Probe
    services: Control

    def call(self, function: str, method: str, path: str, body: object = None, **headers: str) -> dict[str, Any]:
        answer = self.send(function, method, path, body, **headers)
        assert answer["statusCode"] < 400, (method, path, answer["body"])
        return {**(json.loads(answer["body"]) if answer.get("body") else {}), "etag": answer["headers"].get("ETag", "")}

    def use_tool(self, name: str, arguments: dict[str, Any], **headers: str) -> dict[str, Any]:
        """What the tool gives, as a client of 2025-06-18 asks for it."""
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        result: dict[str, Any] = self.call("mcp", "POST", "/mcp", message, **headers)["result"]
        assert not result["isError"], result["content"]
        found: dict[str, Any] = result["structuredContent"]
        return found

    def send(self, function: str, method: str, path: str, body: object = None, **headers: str) -> dict[str, Any]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        event = {
            "version": "2.0",
            "rawPath": path,
            "rawQueryString": "",
            "headers": {"content-type": "application/json", **named},
            "requestContext": {
                "http": {"method": method, "path": path, "sourceIp": "203.0.113.7"},
                "requestId": "r",
                "stage": "$default",
            },
            "body": body if body is None or isinstance(body, str) else json.dumps(body),
            "isBase64Encoded": False,
        }
        with self.recorder.during(function):
            return self.handlers[function](event, None)


@pytest.fixture(scope="module")
def asked() -> Iterator[set[Asked]]:
    """Everything that is asked in the life of a gateway: providers, credentials, the root switch, all searches."""
    control = Control()
    live_services = StandIns(services(), control)
    with (
        pytest.MonkeyPatch.context() as patch,
        backend.emulator() as url,
        hostile_provider() as provider,
        live_services.running(),
        ExitStack() as listening,
    ):
        store = backend.provisioned(url, prefix="least")
        for name, value in client_environment(url).items():
            patch.setenv(name, value)
        recorder = Recorder(store)
        listening.enter_context(heard(recorder.hear))
        each = environments(store=store, client=client_environment(url), local_origins=live_services.origins)
        admin_loop = ProcessLoop()
        search, widget = wired_search(each["search"]), wired_widget(each["widget"])
        admin = admin_api(wired_admin(each["admin"]), loop=admin_loop, logger=logger_for("admin"))
        lookup, single, tools = wired_lookup(each["lookup"]), wired_live(each["live"]), wired_mcp(each["mcp"])
        handlers = {"admin": admin.handle, "search": search_api(search).handle, "widget": widget_api(widget).handle}
        handlers |= {"lookup": lookup_api(lookup).handle, "live": live_api(single).handle}
        handlers["mcp"] = mcp_api(tools).handle
        keep_demo_keys(embedded_store(url, {pool: store[variable] for pool, variable in POOL_VARIABLES.items()}))
        secret = boto3.client("secretsmanager").get_secret_value(SecretId=store["KG_ROOT_SECRET"])["SecretString"]
        probe = wired_probe(each["probe"])
        gateway = Gateway(handlers, recorder, Probe(probe), control)
        patch.setattr(circuit_writer, "SETTLING_S", 10.0)  # however slow this machine is: what is asked shall be seen
        root = f"kg_adm_root_{secret}"
        tokens = live(gateway, root=root, base_url=provider.url("good"), store=store)
        meet_trouble(gateway, {"authorization": f"Bearer {root}"}, tokens, provider=provider, control=control)
        for loop in (admin_loop, search.loop, widget.loop, lookup.loop, single.loop, tools.loop, probe.loop):
            loop.close()
        yield recorder.asked


def live(gateway: Gateway, *, root: str, base_url: str, store: dict[str, str]) -> dict[str, str]:
    """The tokens of its callers."""
    admin = {"authorization": f"Bearer {root}"}
    for exposure in ("customer_safe", "agent_only"):
        run_a_provider(gateway, admin, exposure=exposure, base_url=base_url, store=store)
    with gateway.recorder.during("admin"):
        asyncio.run(run_instances(store))
    tokens = issue_credentials(gateway, admin)
    search_with(gateway, tokens)
    read_cards(gateway, admin, tokens)
    ask_live_services(gateway, admin, {"authorization": f"Bearer {tokens['agt']}"})
    look_at_all(gateway, admin, base_url=base_url, store=store)
    change_credentials(gateway, admin)
    keep_cards(gateway, admin)
    switch_root(gateway, admin)
    gateway.call("admin", "GET", "/api/v1/audit", **admin)
    return tokens


def meet_trouble(
    gateway: Gateway,
    admin: dict[str, str],
    tokens: dict[str, str],
    *,
    provider: HostileProvider,
    control: Control,
) -> None:
    """Each lane and function meets a source that fails, opens its circuit and notes it."""
    callers = (("search", SEARCH, "agt"), ("search", SEARCH, "ast"), ("widget", WIDGET_SEARCH, "pub"))
    for function, path, name in (*callers, ("mcp", "", "agt"), ("mcp", "", "ast")):
        wanted = {"name": f"Busy {function} {name}", "exposureProfile": "customer_safe"}
        made = gateway.call("admin", "POST", PROVIDERS, wanted | {"baseUrl": provider.url("rate_limited")}, **admin)
        with provider.best_behaviour():
            test = {"query": "ferry pass", "activate": True}
            gateway.call("admin", "POST", f"{PROVIDERS}/{made['id']}/test", test, **admin)
        bearer = {"authorization": f"Bearer {tokens[name]}", "origin": ORIGIN}
        if function == "mcp":
            gateway.use_tool("knowledge_search", {"query": "ferry pass"}, authorization=bearer["authorization"])
        else:
            gateway.call(function, "POST", path, {"query": "ferry pass"}, **bearer)
    for kind in ("exa", "firecrawl"):
        control.command({"service": kind, "mode": "fail"})
    page = next(demo.test["url"] for demo in LIVE_DEMOS if "url" in demo.test)
    bearer = {"authorization": f"Bearer {tokens['agt']}"}
    for status in (502, 502, 502, 503):
        answer = gateway.send("live", "POST", ACQUIRE, {"url": page}, **bearer)
        assert answer["statusCode"] == status, answer["body"]


def run_a_provider(
    gateway: Gateway, admin: dict[str, str], *, exposure: str, base_url: str, store: dict[str, str]
) -> None:
    """One stays active; another one's life is lived to its end."""
    wanted = {"name": f"Help {exposure}", "exposureProfile": exposure, "baseUrl": base_url}
    kept = gateway.call("admin", "POST", PROVIDERS, wanted, idempotency_key=f"key-{exposure}", **admin)
    gateway.call("admin", "POST", PROVIDERS, wanted, idempotency_key=f"key-{exposure}", **admin)
    test = {"query": "ferry pass", "activate": True}
    assert gateway.call("admin", "POST", f"{PROVIDERS}/{kept['id']}/test", test, **admin)["activated"]
    other = gateway.call("admin", "POST", PROVIDERS, wanted | {"name": f"Other {exposure}"}, **admin)
    path = f"{PROVIDERS}/{other['id']}"
    gateway.call("admin", "POST", f"{path}/capabilities", {}, **admin)
    gateway.call("admin", "POST", f"{path}/rotate-secret", {}, **admin)
    present = gateway.call("admin", "GET", path, **admin)
    renamed = gateway.call("admin", "PATCH", path, {"name": f"New {exposure}"}, if_match=present["etag"], **admin)
    gateway.call("admin", "GET", PROVIDERS, **admin)
    gateway.call("admin", "DELETE", path, if_match=renamed["etag"], **admin)
    put_back(gateway, admin, kept["id"], exposure=exposure, store=store)


def put_back(
    gateway: Gateway, admin: dict[str, str], provider_id: str, *, exposure: str, store: dict[str, str]
) -> None:
    """Once both lanes have it out of use."""
    lanes = ("KG_TABLE_LEDGER_INTERNAL", "KG_TABLE_LEDGER_PUBLIC")
    for table in lanes if exposure == "customer_safe" else lanes[:1]:
        asyncio.run(_take_out(store[table], provider_id))
    path = f"{PROVIDERS}/{provider_id}"
    lost = gateway.call("admin", "GET", path, **admin)
    assert lost["status"] == "auto_disabled"
    gateway.call("admin", "PATCH", path, {"status": "active"}, if_match=lost["etag"], **admin)
    told = gateway.call("admin", "GET", f"{HEALTH}/{provider_id}", **admin)
    assert [each["happening"] for each in told["history"]] == ["put_back"] * len(told["history"])
    assert gateway.call("admin", "GET", HEALTH, **admin)["unavailable"] == []


async def _take_out(table: str, provider_id: str) -> None:
    dynamodb = boto3.client("dynamodb")
    circuits = DynamoCircuits(dynamodb, reads=RowReads(dynamodb), table=table)
    await circuits.change(lambda _: {provider_id: Circuit(disabled_at=1.0)}, known=await circuits.read())


def issue_credentials(gateway: Gateway, admin: dict[str, str]) -> dict[str, str]:
    wanted = {
        "agt": {"class": "agt", "name": "Agent"},
        "ast": {"class": "ast", "name": "Assistant", "grants": ["knowledge:read_public"]},
        "pub": {"class": "pub", "name": "Widget", "origins": [ORIGIN]},
    }
    return {name: gateway.call("admin", "POST", CREDENTIALS, body, **admin)["token"] for name, body in wanted.items()}


def search_with(gateway: Gateway, tokens: dict[str, str]) -> None:
    """Twice each: the second time some things are remembered."""
    for _ in range(2):
        for name in ("agt", "ast"):
            bearer = {"authorization": f"Bearer {tokens[name]}"}
            assert gateway.call("search", "POST", SEARCH, {"query": "ferry pass"}, **bearer)["results"]
            assert gateway.use_tool("knowledge_search", {"query": "ferry pass"}, **bearer)["results"]
        bearer = {"authorization": f"Bearer {tokens['pub']}"}
        assert gateway.call("widget", "POST", WIDGET_SEARCH, {"query": "ferry pass"}, origin=ORIGIN, **bearer)[
            "results"
        ]
    preflight = {"origin": ORIGIN, "access_control_request_method": "POST"}
    gateway.call("widget", "OPTIONS", WIDGET_SEARCH, **preflight)


def read_cards(gateway: Gateway, admin: dict[str, str], tokens: dict[str, str]) -> None:
    """By both classes, twice each: the second time the keys are remembered."""
    made = gateway.call("admin", "POST", COLLECTIONS, {"name": "Read", "exposureProfile": "customer_safe"}, **admin)
    path = f"{COLLECTIONS}/{made['id']}"
    gateway.call("admin", "POST", path + "/cards", {"keys": ["ferry pass"], "body": "x"}, **admin)
    for _ in range(2):
        for name in ("agt", "ast"):
            bearer = {"authorization": f"Bearer {tokens[name]}"}
            found = gateway.call("lookup", "POST", path + "/context-cards/lookup", {"terms": ["Ferry Pass"]}, **bearer)
            assert found["results"]["Ferry Pass"]
            text = {"text": "a ferry pass"}
            assert gateway.call("lookup", "POST", path + "/context-cards/match", text, **bearer)["cards"]
            search = {"query": "ferry pass", "collections": [made["id"]]}
            assert gateway.call("search", "POST", SEARCH, search, **bearer)["cards"]
            of_this = {"collectionId": made["id"]}
            assert gateway.use_tool("glossary_lookup", {**of_this, "terms": ["Ferry Pass"]}, **bearer)["results"]
            assert gateway.use_tool("glossary_match", {**of_this, **text}, **bearer)["cards"]
            assert gateway.use_tool("knowledge_search", search, **bearer)["cards"]


def ask_live_services(gateway: Gateway, admin: dict[str, str], agent: dict[str, str]) -> None:
    """Registered and tested by the admin, searched, fetched from, and looked after."""
    ids = {demo.kind: register_live(gateway, admin, demo) for demo in LIVE_DEMOS}
    assert set(ids) == set(LIVE_KINDS)
    searched = [ids[kind] for kind in LIVE_KINDS if kind != "firecrawl"]
    found = gateway.call("search", "POST", SEARCH, {"query": "open a gate", "providers": searched}, **agent)
    assert {outcome["status"] for outcome in found["providers"]} == {"success"}
    found = gateway.use_tool("knowledge_search", {"query": "open a gate", "providers": searched}, **agent)
    assert {outcome["status"] for outcome in found["providers"]} == {"success"}
    page = next(demo.test["url"] for demo in LIVE_DEMOS if "url" in demo.test)
    for kind in ("exa", "firecrawl"):
        fetched = gateway.call("live", "POST", ACQUIRE, {"url": page, "provider": ids[kind]}, **agent)
        assert fetched["text"]
        assert gateway.use_tool("knowledge_acquire", {"url": page, "provider": ids[kind]}, **agent)["text"]
    use_a_tool(gateway, agent)
    gateway.call("admin", "GET", POOLS, **admin)
    gateway.call("admin", "POST", f"{POOLS}/exa/rest", {"key": "EXA_API_KEY_1", "seconds": 60}, **admin)
    gateway.call("admin", "POST", f"{POOLS}/exa/wake", {}, **admin)
    gateway.call("admin", "GET", ALLOWANCES, **admin)
    present = gateway.call("admin", "GET", f"{ALLOWANCES}/exa", **admin)
    gateway.call("admin", "PUT", f"{ALLOWANCES}/exa", {"limit": 900}, if_match=present["etag"], **admin)


def use_a_tool(gateway: Gateway, agent: dict[str, str]) -> None:
    """Found, priced, run once and asked for again."""
    (found,) = gateway.call("live", "POST", f"{ALEXANDRIA}/search", {"query": "tide predictions"}, **agent)["tools"]
    quote = gateway.call("live", "POST", f"{ALEXANDRIA}/inspect", {"tool": found["tool"]}, **agent)
    order = {"quoteId": quote["quoteId"], "requestId": "tides-1", "options": {"harbour": "Ostrand"}}
    for result in (True, False):
        done = gateway.call("live", "POST", f"{ALEXANDRIA}/execute", order, **agent)
        assert (done["receipt"]["state"], done["result"] is not None) == ("done", result)
    gateway.call("live", "POST", f"{ALEXANDRIA}/receipt", {"requestId": "tides-1"}, **agent)


def register_live(gateway: Gateway, admin: dict[str, str], demo: LiveDemo) -> str:
    wanted = {"kind": demo.kind, "name": demo.name, "exposureProfile": "agent_only", "config": demo.config}
    made = gateway.call("admin", "POST", PROVIDERS, wanted, **admin)
    test = {**demo.test, "activate": True}
    assert gateway.call("admin", "POST", f"{PROVIDERS}/{made['id']}/test", test, **admin)["activated"]
    return str(made["id"])


def look_at_all(gateway: Gateway, admin: dict[str, str], *, base_url: str, store: dict[str, str]) -> None:
    """Of those that are looked at, one is gone by the second time."""
    wanted = {"name": "Help for a while", "exposureProfile": "agent_only", "baseUrl": base_url}
    path = f"{PROVIDERS}/{gateway.call('admin', 'POST', PROVIDERS, wanted, **admin)['id']}"
    gateway.call("admin", "POST", f"{path}/test", {"query": "ferry pass", "activate": True}, **admin)

    def remove() -> None:
        present = gateway.call("admin", "GET", path, **admin)
        gateway.call("admin", "DELETE", path, if_match=present["etag"], **admin)

    look_at_providers(gateway.probe, gateway.recorder, environment=store, services=gateway.services, remove=remove)


def change_credentials(gateway: Gateway, admin: dict[str, str]) -> None:
    for body, change in (
        ({"class": "agt", "name": "Short"}, {"name": "Shorter"}),
        ({"class": "pub", "name": "Site", "origins": [ORIGIN]}, {"origins": ["https://shop.fern-desk.test"]}),
    ):
        made = gateway.call("admin", "POST", CREDENTIALS, body, **admin)
        path = f"{CREDENTIALS}/{made['id']}"
        changed = gateway.call("admin", "PATCH", path, change, if_match=made["etag"], **admin)
        rotated = gateway.call("admin", "POST", f"{path}/rotate", {}, if_match=changed["etag"], **admin)
        gateway.call("admin", "GET", path, **admin)
        gateway.call("admin", "DELETE", path, if_match=rotated["etag"], **admin)
    gateway.call("admin", "GET", CREDENTIALS, **admin)


def keep_cards(gateway: Gateway, admin: dict[str, str]) -> None:
    """A glossary's whole life, to the clearing away of what it leaves."""
    wanted = {"name": "Words", "exposureProfile": "customer_safe"}
    made = gateway.call("admin", "POST", COLLECTIONS, wanted, idempotency_key="words", **admin)
    path = f"{COLLECTIONS}/{made['id']}"
    renamed = gateway.call("admin", "PATCH", path, {"name": "Other words"}, if_match=made["etag"], **admin)
    gateway.call("admin", "GET", COLLECTIONS, **admin)
    card = gateway.call("admin", "POST", path + "/cards", {"keys": ["pass", "fee"], "body": "x"}, **admin)
    gateway.call("admin", "POST", path + "/cards", {"keys": ["fee"], "body": "y"}, **admin)
    of_card = f"{path}/cards/{card['id']}"
    changed = gateway.call("admin", "PATCH", of_card, {"keys": ["deck"]}, if_match=card["etag"], **admin)
    gateway.call("admin", "DELETE", of_card, if_match=changed["etag"], **admin)
    rows = '{"keys":["lane"],"body":""}\n{"keys":["gate"],"body":""}\n'
    lines = {"content-type": "application/x-ndjson", **admin}
    assert gateway.call("admin", "POST", path + "/cards/import", rows, **lines)["created"] == 2
    gateway.call("admin", "GET", path + "/cards", **admin)
    gateway.call("admin", "DELETE", path, if_match=renamed["etag"], **admin)
    with gateway.recorder.during("probe"):
        cleared = gateway.probe.run(Context())
    assert (cleared["finished"], cleared["isDone"]) == (1, True)


def switch_root(gateway: Gateway, admin: dict[str, str]) -> None:
    """Off once there are two others, one of whom then goes; and on again, so that the last one may go."""
    second, third = (
        gateway.call("admin", "POST", CREDENTIALS, {"class": "adm", "name": name}, **admin) for name in ("Two", "Three")
    )
    root = gateway.call("admin", "GET", f"{CREDENTIALS}/root", **admin)
    off = gateway.call("admin", "PATCH", f"{CREDENTIALS}/root", {"status": "disabled"}, if_match=root["etag"], **admin)
    bearer = {"authorization": f"Bearer {second['token']}"}
    gateway.call("admin", "DELETE", f"{CREDENTIALS}/{third['id']}", if_match=third["etag"], **bearer)
    gateway.call("admin", "PATCH", f"{CREDENTIALS}/root", {"status": "active"}, if_match=off["etag"], **bearer)
    gateway.call("admin", "DELETE", f"{CREDENTIALS}/{second['id']}", if_match=second["etag"], **admin)


def role_of(function: str) -> str:
    return f"Role{function.capitalize()}"


@pytest.mark.parametrize("function", UNASKED)
def test_whatever_a_function_asks_its_role_allows(shipped: Synthesised, asked: set[Asked], function: str) -> None:
    allowed = granted(shipped, role_of(function))
    own = [one for one in sorted(asked) if one.function == function]
    assert own
    assert [str(one) for one in own if not any(line.covers(one) for line in allowed)] == []


@pytest.mark.parametrize("function", UNASKED)
def test_whatever_a_role_allows_its_function_asks(shipped: Synthesised, asked: set[Asked], function: str) -> None:
    own = [one for one in asked if one.function == function]
    unasked = {line for line in granted(shipped, role_of(function)) if not any(line.covers(one) for one in own)}
    assert unasked == UNASKED[function]


def test_whatever_anybody_asks_of_internal_things_is_denied_to_the_widget(
    shipped: Synthesised, asked: set[Asked]
) -> None:
    internal = [one for one in asked if one.resource in INTERNAL]
    assert {one.function for one in internal} == set(UNASKED) - {"widget"}
    assert {one.resource for one in internal} == INTERNAL
    widget = granted(shipped, "RoleWidget")
    assert not any(line.covers(one) for line in widget for one in internal)


def test_the_widget_asks_public_things_alone(asked: set[Asked]) -> None:
    resources = {one.resource for one in asked if one.function == "widget"}
    assert resources == {"TableRegistrationsPublic.Arn", "TableLedgerPublic.Arn", "KeyPublic.Arn"}


def test_every_ciphertext_is_opened_under_its_own_exposure(asked: set[Asked]) -> None:
    contexts = {(one.resource, one.exposure) for one in asked if one.action.startswith("kms:")}
    assert contexts == {("KeyPublic.Arn", "customer_safe"), ("KeyInternal.Arn", "agent_only")}


def test_nobody_updates_or_deletes_an_audit_entry(asked: set[Asked]) -> None:
    audit = {one.action for one in asked if "AUDIT" in one.keys}
    assert audit == {"dynamodb:PutItem", "dynamodb:Query"}


def test_only_functions_that_are_here_have_grants() -> None:
    assert {one.name for one in FUNCTIONS if one.table_grants or one.key_grants} == set(UNASKED)


def test_a_line_covers_what_it_names_and_no_more() -> None:
    line = Granted("dynamodb:PutItem", "T.Arn", key="RATE#*")
    assert line.covers(Asked("f", "dynamodb:PutItem", "T.Arn", ("RATE#a",)))
    assert not line.covers(Asked("f", "dynamodb:PutItem", "T.Arn", ("AUDIT",)))
    assert not line.covers(Asked("f", "dynamodb:PutItem", "U.Arn", ("RATE#a",)))
    assert not line.covers(Asked("f", "dynamodb:GetItem", "T.Arn", ("RATE#a",)))
    sealed = Granted("kms:Decrypt", "K.Arn", exposure="customer_safe")
    assert sealed.covers(Asked("f", "kms:Decrypt", "K.Arn", exposure="customer_safe"))
    assert not sealed.covers(Asked("f", "kms:Decrypt", "K.Arn", exposure="agent_only"))


def test_patterns_are_compared_as_iam_does() -> None:
    assert matches("RATE#*", "RATE#")
    assert matches("A.C", "A.C")
    assert not matches("A.C", "ABC")
    assert not matches("RATE#*", "XRATE#1")
