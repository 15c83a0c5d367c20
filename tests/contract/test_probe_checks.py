"""What the probe sees of real servers: each kind is read in the cheapest way that there is, and nothing is searched."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fixtures.reference_provider.index import Index
from fixtures.reference_provider.nonces import Nonces
from fixtures.reference_provider.secret_files import SecretFiles
from fixtures.reference_provider.server import Faults
from fixtures.reference_provider.server import Provider as Reference
from fixtures.reference_provider.server import Server as ReferenceServer
from fixtures.stand_ins import dify_shelves, fastgpt, ragflow_sets
from fixtures.stand_ins.control import SERVERS, SERVICES, Control
from fixtures.stand_ins.fastgpt_folders import object_id
from fixtures.stand_ins.knowledge import dashed_id
from fixtures.stand_ins.server import StandIns
from fixtures.stand_ins.services import servers, services
from shared.adapters.allowance_reader import DynamoAllowanceReader
from shared.adapters.clock import SystemClock
from shared.domain.health import Finding, Look
from shared.domain.key_pools import Rest, nameless_key
from shared.domain.live_configs import MintlifyConfig, MintlifyEndpoint
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Warning_
from shared.domain.pools import Pool
from shared.domain.registrations import Capabilities, Provider, ProviderKind
from shared.errors import ConnectionFailed, Unavailable
from tests.contract.worlds import StoreWorld
from tests.support.builders import SIGNING_SECRET, an_external_provider
from tests.support.check_stage import HOSTS, CheckStage
from tests.support.fake_exchanges import HANGS, FakeExchanges, Step, json_answer
from tests.support.hostile_provider import HostileProvider, hostile_provider
from tests.support.mcp_servers import BadMcpServer, bad_mcp_server

DECLARED = Capabilities(
    semantic_search=False,
    locale=True,
    locale_fallback=True,
    freshness=True,
    translation_groups=True,
    chunking=True,
    scoring=True,
    citation_url=True,
)
OTHER_SECRET = "kgs_" + "52" * 32
KEYS = {"dify": dify_shelves.CREW_KEY, "fastgpt": fastgpt.KEY, "ragflow": ragflow_sets.KEY}
HARBOUR = {
    "dify": dashed_id("crew", "harbour"),
    "fastgpt": object_id("harbour"),
    "ragflow": ragflow_sets.data_set_id("harbour"),
}
PRODUCTS = [name for name in SERVERS if name != "dify_external"]
SEARCHING = ("retrieve", "retrieval", "searchTest", "hit-testing")
WELL: tuple[None, tuple[()]] = (None, ())


def said(finding: Finding) -> tuple[OutcomeCode | None, tuple[Warning_, ...]]:
    return finding.code, finding.warnings


class TestContract:
    @pytest.fixture
    def secret(self, tmp_path: Path) -> Path:
        (tmp_path / "secret").write_text(SIGNING_SECRET)
        return tmp_path / "secret"

    @pytest.fixture
    def server(self, secret: Path) -> Iterator[ReferenceServer]:
        """It fails every retrieval, and verifies every signature."""
        provider = Reference(index=Index([]), secrets=SecretFiles(secret), nonces=Nonces(), faults=Faults(fail=True))
        server = ReferenceServer(provider, port=0, name="looked-at")
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        with contextlib.suppress(OSError):
            server.shutdown()
            server.server_close()

    @staticmethod
    def url(server: ReferenceServer) -> str:
        return f"http://127.0.0.1:{server.server_address[1]}"

    def test_the_capabilities_are_read_with_a_signature_that_the_provider_verifies(
        self, server: ReferenceServer
    ) -> None:
        stage = CheckStage()
        provider = stage.contract(self.url(server), secret=SIGNING_SECRET, capabilities=DECLARED)

        for _ in range(3):
            finding = stage.look(provider)
            assert (finding.look, *said(finding)) == (Look.CAPABILITIES, *WELL)
        wrong = stage.contract(self.url(server), secret=OTHER_SECRET, capabilities=DECLARED)
        assert said(stage.look(wrong)) == (OutcomeCode.UNAUTHORIZED, ())

    def test_during_a_rotation_the_previous_secret_is_good_too(self, server: ReferenceServer) -> None:
        stage = CheckStage()
        rotated = stage.contract(self.url(server), secret=OTHER_SECRET, previous=SIGNING_SECRET, capabilities=DECLARED)
        assert said(stage.look(rotated)) == WELL
        over = rotated.with_source(signing_previous_until=stage.clock.now() - 1)
        assert said(stage.look(over)) == (OutcomeCode.UNAUTHORIZED, ())

    def test_what_is_declared_otherwise_than_registered_is_noticed(self, server: ReferenceServer) -> None:
        stage = CheckStage()
        for registered in (Capabilities(), replace(DECLARED, scoring=False)):
            provider = stage.contract(self.url(server), secret=SIGNING_SECRET, capabilities=registered)
            assert said(stage.look(provider)) == (None, (Warning_.CAPABILITIES_CHANGED,))
            assert provider.source.capabilities == registered

    def test_one_that_is_gone_is_found_out(self, server: ReferenceServer) -> None:
        stage = CheckStage()
        provider = stage.contract(self.url(server), secret=SIGNING_SECRET, capabilities=DECLARED)
        assert said(stage.look(provider)) == WELL
        server.shutdown()
        server.server_close()
        assert stage.look(replace(provider, source=replace(provider.source, generation=2))).code in (
            OutcomeCode.CONNECTION_FAILED,
            OutcomeCode.TIMEOUT,
        )


@pytest.fixture(scope="module")
def hostile() -> Iterator[HostileProvider]:
    with hostile_provider() as server:
        yield server


@pytest.mark.parametrize("behaviour", ["hang", "drip", "drip_headers", "endless_early_hints"])
def test_one_that_never_comes_to_an_end_costs_its_time_and_no_more(hostile: HostileProvider, behaviour: str) -> None:
    stage = CheckStage()
    provider = stage.contract(hostile.url(behaviour), secret=SIGNING_SECRET)

    async def bounded() -> Finding:
        async with asyncio.timeout(5):
            return await stage.looked(provider, within_s=0.3)

    assert asyncio.run(bounded()).code is OutcomeCode.TIMEOUT


def signed_finding(*steps: Step, **over: Any) -> tuple[Finding, FakeExchanges]:
    exchanges = FakeExchanges(clock=SystemClock())
    stage = CheckStage(exchanges=exchanges)
    provider = stage.contract("https://kb.fern-desk.test/v1", secret=SIGNING_SECRET, **over)
    exchanges.script(provider.id, *steps)
    return stage.look(provider, within_s=0.2), exchanges


@pytest.mark.parametrize("status", [404, 405])
def test_a_provider_without_such_a_page_is_reached_and_declares_nothing(status: int) -> None:
    finding, exchanges = signed_finding(json_answer({}, status=status))
    assert said(finding) == WELL
    (sent,) = exchanges.sent
    assert (sent.request.method, sent.request.url) == ("GET", "https://kb.fern-desk.test/v1/capabilities")
    changed, _ = signed_finding(json_answer({}, status=status), capabilities=Capabilities(locale=True))
    assert said(changed) == (None, (Warning_.CAPABILITIES_CHANGED,))


@pytest.mark.parametrize(
    ("status", "headers", "code", "waits_s"),
    [
        (429, {}, OutcomeCode.RATE_LIMITED, None),
        (429, {"retry-after": "90"}, OutcomeCode.RATE_LIMITED, 90),
        (429, {"retry-after": "864000"}, OutcomeCode.RATE_LIMITED, 3_600),
        (402, {}, OutcomeCode.RATE_LIMITED, None),
        (503, {"retry-after": "30"}, OutcomeCode.UPSTREAM_ERROR, 30),
        (503, {}, OutcomeCode.UPSTREAM_ERROR, None),
        (401, {}, OutcomeCode.UNAUTHORIZED, None),
        (403, {}, OutcomeCode.FORBIDDEN, None),
        (500, {}, OutcomeCode.UPSTREAM_ERROR, None),
        (302, {"location": "https://elsewhere.example"}, OutcomeCode.UPSTREAM_ERROR, None),
    ],
)
def test_a_refusal_is_read_for_what_it_says(
    status: int, headers: dict[str, str], code: OutcomeCode, waits_s: float | None
) -> None:
    finding, exchanges = signed_finding(json_answer({}, status=status, headers=headers))

    assert finding.code is code
    assert len(exchanges.sent) == 1
    now = CheckStage().clock.now()
    assert finding.retry_at is None if waits_s is None else abs(finding.retry_at - now - waits_s) < 60  # type: ignore[operator]


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (HANGS, OutcomeCode.TIMEOUT),
        (ConnectionFailed(), OutcomeCode.CONNECTION_FAILED),
        (json_answer({"contractVersion": 2}), OutcomeCode.UNSUPPORTED_VERSION),
        (json_answer({"contractVersion": 1, "capabilities": []}), OutcomeCode.INVALID_RESPONSE),
    ],
    ids=["hangs", "not_there", "another_version", "another_shape"],
)
def test_what_goes_wrong_is_what_was_found(step: Step, code: OutcomeCode) -> None:
    assert signed_finding(step)[0].code is code


def test_a_secret_that_cannot_be_opened_says_nothing_of_the_provider() -> None:
    exchanges = FakeExchanges(clock=SystemClock())
    stage = CheckStage(exchanges=exchanges)
    provider = stage.contract("https://kb.fern-desk.test/v1", secret=SIGNING_SECRET)
    for unsealer in stage.unsealers.values():
        unsealer.failure = Unavailable(code="secrets_unavailable")

    assert stage.look(provider).code is OutcomeCode.NOT_CONFIGURED
    assert exchanges.sent == []


@pytest.fixture(scope="module")
def control() -> Control:
    return Control()


@pytest.fixture(scope="module")
def stand_ins(control: Control) -> Iterator[StandIns]:
    running = StandIns(services(), control, servers=servers())
    with running.running():
        yield running


@pytest.fixture
def trouble(control: Control) -> Iterator[Callable[..., None]]:
    yield lambda service, mode, **how: control.command({"service": service, "mode": mode, **how})
    control.command({"mode": "ok"})


def bound(stage: CheckStage, stand_ins: StandIns, server: str, **over: Any) -> Provider:
    kind = server.partition("-")[0]
    base_url = _at(kind, stand_ins.servers[server])
    values = {"key": KEYS[kind], "remote_id": HARBOUR[kind]} | over
    return stage.bound(ProviderKind(kind), base_url, **values)


def _at(kind: str, url: str) -> str:
    return url + {"dify": "/v1", "fastgpt": "/api", "ragflow": "/api/v1"}[kind]


def requests(control: Control, server: str) -> dict[str, int]:
    return dict(control.shown()["requests"][server])


@pytest.mark.parametrize("server", PRODUCTS)
def test_a_knowledge_base_is_described_by_its_server_and_never_searched(
    stand_ins: StandIns, control: Control, server: str
) -> None:
    stage, before = CheckStage(), requests(control, server)

    finding = stage.look(bound(stage, stand_ins, server))

    assert (finding.look, *said(finding)) == (Look.KNOWLEDGE_BASE, *WELL)
    new = {shape for shape, count in requests(control, server).items() if count > before.get(shape, 0)}
    assert new
    assert not [shape for shape in new if any(word in shape for word in SEARCHING)]


@pytest.mark.parametrize("server", PRODUCTS)
def test_a_server_that_refuses_the_key_fails_or_is_another_is_told_apart(
    stand_ins: StandIns, trouble: Callable[..., None], server: str
) -> None:
    stage = CheckStage()
    provider = bound(stage, stand_ins, server)
    found = {}
    for mode in ("refuse", "fail", "html"):
        trouble(server, mode)
        found[mode] = stage.look(provider).code

    assert found == {
        "refuse": OutcomeCode.UNAUTHORIZED,
        "fail": OutcomeCode.UPSTREAM_ERROR,
        "html": OutcomeCode.INVALID_RESPONSE,
    }


@pytest.mark.parametrize("server", PRODUCTS)
def test_a_knowledge_base_that_is_gone_is_told(stand_ins: StandIns, server: str) -> None:
    stage = CheckStage()
    nobodys = {"dify": dashed_id("nobodys"), "fastgpt": object_id("nobodys"), "ragflow": "0" * 32}

    finding = stage.look(bound(stage, stand_ins, server, remote_id=nobodys[server.partition("-")[0]]))

    assert finding.code is OutcomeCode.NOT_FOUND


def server_finding(*steps: Step, **over: Any) -> tuple[Finding, FakeExchanges]:
    exchanges = FakeExchanges(clock=SystemClock())
    stage = CheckStage(exchanges=exchanges)
    values: dict[str, Any] = {"key": "k", "remote_id": HARBOUR["dify"]}
    provider = stage.bound(ProviderKind.DIFY, "https://dify.fern-desk.test/v1", **values | over)
    exchanges.script(provider.id, *steps)
    return stage.look(provider, within_s=0.2), exchanges


def data_set(**over: object) -> dict[str, object]:
    values: dict[str, object] = {"id": HARBOUR["dify"], "name": "Harbour", "provider": "vendor"}
    return values | {"indexing_technique": "high_quality", "document_count": 2} | over


def test_a_key_that_may_search_and_not_read_lists_is_taken() -> None:
    refused = json_answer({"code": "forbidden", "message": "UPSTREAM-WORDS", "status": 403}, status=403)
    assert said(server_finding(refused)[0]) == WELL


def test_a_knowledge_base_that_can_be_searched_no_more_is_broken() -> None:
    for changed in ({"provider": "external"}, {"enable_api": False}):
        finding, _ = server_finding(json_answer(data_set(**changed)))
        assert finding.code is OutcomeCode.CAPABILITY_UNAVAILABLE


def test_a_knowledge_base_of_which_something_else_is_asked_now_is_noticed() -> None:
    economy, _ = server_finding(json_answer(data_set(indexing_technique="economy")))
    assert said(economy) == (None, (Warning_.CAPABILITIES_CHANGED,))
    assert said(server_finding(json_answer(data_set()))[0]) == WELL


def test_a_list_that_is_too_long_to_be_read_in_time_is_an_answer() -> None:
    """Old versions describe no single one."""
    without_detail = json_answer({"code": "method_not_allowed", "message": "x", "status": 405}, status=405)
    page = json_answer({"data": [data_set(id=dashed_id(str(n))) for n in range(100)], "has_more": True, "total": 900})
    finding, exchanges = server_finding(without_detail, page, HANGS)
    assert said(finding) == WELL
    assert len(exchanges.sent) == 3
    nothing, _ = server_finding(without_detail, HANGS)
    assert nothing.code is OutcomeCode.TIMEOUT


def test_a_binding_that_no_search_would_ask_is_not_asked_here_either() -> None:
    finding, exchanges = server_finding(HANGS, adapter_version=0)
    assert (finding.code, exchanges.sent) == (OutcomeCode.NOT_CONFIGURED, [])


@pytest.mark.parametrize("kind", ["deepwiki", "mintlify"])
def test_a_service_of_tools_lists_them_and_no_unit_is_reserved(
    stand_ins: StandIns, control: Control, kind: str
) -> None:
    stage = CheckStage(stand_ins.origins)
    before = requests(control, kind)

    finding = stage.look(stage.live(ProviderKind(kind)))

    assert (finding.look, *said(finding)) == (Look.TOOLS, *WELL)
    assert requests(control, kind) == before | {"POST /mcp": before.get("POST /mcp", 0) + 1}
    assert stage.allowances.all == {}
    assert stage.ledger.writes == 0


@pytest.fixture(scope="module")
def tools() -> Iterator[BadMcpServer]:
    with bad_mcp_server() as server:
        yield server


def listed(*offers: tuple[str, list[str]]) -> dict[str, Any]:
    shown = [
        {"name": name, "inputSchema": {"type": "object", "properties": {each: {"type": "string"} for each in words}}}
        for name, words in offers
    ]
    return {"json": {"jsonrpc": "2.0", "id": "$id", "result": {"tools": shown}}}


def at(tools: BadMcpServer) -> CheckStage:
    return CheckStage({"deepwiki": tools.origin, "mintlify": tools.origin})


USUAL = ("ask_wiki_question", ["repoName", "question"])


@pytest.mark.parametrize(
    ("offers", "expected"),
    [
        ([USUAL], WELL),
        ([USUAL, ("read_wiki_structure", ["repoName"])], WELL),
        ([("ask_question", ["repoName", "question"])], (None, (Warning_.CAPABILITIES_CHANGED,))),
        ([("AskTheWiki", ["repository", "q"])], (None, (Warning_.CAPABILITIES_CHANGED,))),
        ([("ask_wiki_question", ["repoName", "query"])], (None, (Warning_.CAPABILITIES_CHANGED,))),
        ([("ask_wiki_question", ["repoName"])], (OutcomeCode.CAPABILITY_UNAVAILABLE, ())),
        ([("read_wiki_structure", ["repoName"])], (OutcomeCode.CAPABILITY_UNAVAILABLE, ())),
        ([], (OutcomeCode.CAPABILITY_UNAVAILABLE, ())),
    ],
    ids=["usual", "among_others", "renamed", "renamed_anew", "reworded", "without_an_argument", "gone", "none"],
)
def test_a_tool_that_was_renamed_is_noticed_and_one_that_is_gone_is_broken(
    tools: BadMcpServer, offers: list[tuple[str, list[str]]], expected: tuple[Any, Any]
) -> None:
    tools.play([listed(*offers)])
    stage = at(tools)

    assert said(stage.look(stage.live(ProviderKind.DEEPWIKI))) == expected
    assert tools.methods == ["tools/list"]


def test_a_mintlify_that_cannot_be_kept_to_the_approved_hosts_is_broken(tools: BadMcpServer) -> None:
    tools.play([listed(("context", ["query", "product", "tokenBudget"]))])
    stage = at(tools)
    assert stage.look(stage.live(ProviderKind.MINTLIFY)).code is OutcomeCode.CAPABILITY_UNAVAILABLE


def test_all_providers_of_a_service_are_one_look_and_each_endpoint_is_another(tools: BadMcpServer) -> None:
    tools.play([listed(("context", ["query", "includeDomains", "product", "tokenBudget"]))])
    stage = at(tools)
    root = MintlifyConfig(approved_hosts=HOSTS, endpoint=MintlifyEndpoint.ROOT)
    providers = [stage.live(ProviderKind.MINTLIFY) for _ in range(5)]
    providers.append(stage.live(ProviderKind.MINTLIFY, config=root))

    async def looked() -> list[Finding]:
        return await asyncio.gather(*(stage.looked(each) for each in providers))

    assert [said(each) for each in asyncio.run(looked())] == [WELL] * 6
    assert sorted(seen.path for seen in tools.seen) == ["/", "/mcp"]


def test_a_service_that_was_asked_too_often_rests_for_searches_too_and_is_not_asked_again(tools: BadMcpServer) -> None:
    tools.play([{"status": 429, "text": "no", "headers": {"Retry-After": "120"}}])
    stage = at(tools)
    finding = stage.look(stage.live(ProviderKind.DEEPWIKI))
    again = at(tools)
    again.ledger.states = stage.ledger.states
    resting = again.look(again.live(ProviderKind.DEEPWIKI))

    assert (finding.code, resting.code) == (OutcomeCode.RATE_LIMITED, OutcomeCode.RATE_LIMITED)
    assert resting.retry_at == pytest.approx(stage.clock.now() + 120, abs=30)
    assert len(tools.seen) == 1
    assert stage.ledger.states[Pool.DEEPWIKI].is_resting(nameless_key(Pool.DEEPWIKI).fingerprint, now=stage.clock.now())


@pytest.mark.parametrize("pool", [Pool.DEEPWIKI, Pool.MINTLIFY])
def test_a_service_that_rests_or_is_closed_is_not_asked(tools: BadMcpServer, pool: Pool) -> None:
    tools.play([listed(USUAL)])
    resting, closed = at(tools), at(tools)
    until = resting.clock.now() + 600
    asyncio.run(resting.ledger.rest(pool, [nameless_key(pool).fingerprint], Rest(until, "operator"), active=None))
    closed.allowances.set_limit(pool, 0)

    found = [each.look(each.live(ProviderKind(pool))) for each in (resting, closed)]

    assert [each.code for each in found] == [OutcomeCode.RATE_LIMITED, OutcomeCode.ALLOWANCE_EXHAUSTED]
    assert found[0].retry_at == until
    assert tools.seen == []


def test_a_page_that_forbids_us_is_a_refusal_for_a_person_to_look_at(tools: BadMcpServer) -> None:
    tools.play([{"status": 403, "text": "<html>UPSTREAM-WORDS</html>", "type": "text/html"}])
    stage = at(tools)
    assert stage.look(stage.live(ProviderKind.DEEPWIKI)).code is OutcomeCode.FORBIDDEN


def test_a_pool_that_cannot_be_read_has_nobody_asked(tools: BadMcpServer) -> None:
    tools.play([listed(USUAL)])
    stage = at(tools)
    stage.ledger.failure = Unavailable()
    assert stage.look(stage.live(ProviderKind.DEEPWIKI)).code is OutcomeCode.NOT_CONFIGURED
    assert tools.seen == []


def test_in_a_month_the_services_with_keys_are_sent_nothing_at_all(stand_ins: StandIns, control: Control) -> None:
    stage = CheckStage(stand_ins.origins)
    kinds = (ProviderKind.CONTEXT7, ProviderKind.EXA, ProviderKind.FIRECRAWL)
    external = an_external_provider(base_url=stand_ins.servers["dify_external"] + "/retrieval")
    providers = [*(stage.live(kind) for kind in kinds), external]
    before = control.shown()["services"]

    async def month() -> set[tuple[Look, OutcomeCode | None]]:
        found = [await stage.looked(each) for _ in range(30 * 288) for each in providers]
        return {(each.look, each.code) for each in found}

    assert asyncio.run(month()) == {(Look.NOTHING, None)}
    after = control.shown()["services"]
    assert {name: after[name] for name in (*SERVICES, "dify_external")} == {
        name: before[name] for name in (*SERVICES, "dify_external")
    }
    assert stage.allowances.all == {}
    assert (stage.ledger.reads, stage.ledger.writes) == (0, 0)


@pytest.mark.emulator
async def test_an_allowance_is_read_as_its_desk_reads_it(store: StoreWorld) -> None:
    reader = DynamoAllowanceReader(store.clients.dynamodb, table=store.internal_ledger)
    for _ in range(2):
        for pool in (Pool.DEEPWIKI, Pool.MINTLIFY):
            assert await reader.read(pool) == await store.allowance_desk().read(pool)
            await store.allowances().reserve(pool)
