"""What the page on costs says of a request is what it reads and writes, and how many lines it leaves."""

from __future__ import annotations

import contextlib
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from infra import costs
from shared.adapters.catalog import DynamoCatalog
from shared.adapters.circuits import DynamoCircuits
from shared.adapters.credentials import DynamoCredentials
from shared.adapters.customer_catalog import DynamoCustomerCatalog
from shared.domain.circuits import Lane
from shared.domain.deadlines import Deadline
from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import new_token_secret
from shared.domain.registrations import Capabilities
from shared.ports.circuits import CircuitStore
from shared.services.admit import Admit
from shared.services.admit_widget import AdmitWidget, WidgetVisit
from shared.services.at_once import both
from shared.services.look_up import LookUp, LookUpRequest
from tests.contract.far_ahead import a_change
from tests.contract.worlds import StoreWorld
from tests.support.builders import a_credential, a_passage, a_provider, a_token, an_internal_provider
from tests.support.card_builders import a_card, a_collection
from tests.support.search_stage import Answered, Stage, answering
from tests.support.tool_stage import ToolStage

pytestmark = pytest.mark.emulator
ORIGIN = "https://help.fern-desk.test"


class Units:
    """Rows read and written, as on-demand tables are paid for. Every row here is small enough to be one unit."""

    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()
        self.listening = ExitStack()

    def note(self, _service: str, operation: str, asked: dict[str, Any]) -> None:
        if operation == "BatchGetItem":
            self.counted["reads"] += sum(len(one["Keys"]) for one in asked["RequestItems"].values())
            assert all(one["ConsistentRead"] for one in asked["RequestItems"].values())
        else:
            assert operation == "UpdateItem", operation
            self.counted["writes"] += 1

    @property
    def both(self) -> tuple[int, int]:
        return self.counted["reads"], self.counted["writes"]


@pytest.fixture
def units(store: StoreWorld) -> Iterator[Units]:
    units = Units()
    with ExitStack() as units.listening:
        yield units


def _listen(store: StoreWorld, units: Units) -> None:
    units.listening.enter_context(store.clients.heard.by(units.note))


async def test_a_warm_search_reads_and_writes_as_the_page_says(store: StoreWorld, units: Units) -> None:
    secret = new_token_secret()
    credential = a_credential(secret=secret)
    await store.credential_store().create(credential, a_change())
    for provider in (a_provider(), an_internal_provider()):
        await store.registry().create(provider, a_change())
    client, reads = store.clients.dynamodb, store.row_reads()
    catalog = DynamoCatalog(client, reads=reads, public_table=store.public_table, internal_table=store.internal_table)
    circuits: CircuitStore = DynamoCircuits(client, reads=reads, table=store.ledger_of(Lane.AGENT))
    admit = Admit(
        credentials=DynamoCredentials(reads, table=store.internal_table),
        rate_limits=store.rate_limits(),
        clock=store.clock,
    )
    await catalog.providers()
    _listen(store, units)
    admission = admit(a_token(credential, secret=secret), classes=(CredentialClass.AGENT,))
    await both(admission, both(catalog.providers(), circuits.read()))

    assert units.both == (costs.SEARCH.reads, costs.SEARCH.writes)


async def test_a_warm_search_of_a_widget_reads_and_writes_as_the_page_says(store: StoreWorld, units: Units) -> None:
    secret = new_token_secret()
    widget = a_credential(secret=secret, credential_class=CredentialClass.PUBLIC, origins=(ORIGIN,))
    await store.credential_store().create(widget, a_change())
    await store.registry().create(a_provider(), a_change())
    client, reads = store.clients.dynamodb, store.row_reads()
    catalog = DynamoCustomerCatalog(client, reads=reads, table=store.public_table)
    circuits: CircuitStore = DynamoCircuits(client, reads=reads, table=store.ledger_of(Lane.CUSTOMER))
    admit = AdmitWidget(
        credentials=DynamoCredentials(reads, table=store.public_table),
        rate_limits=store.rate_limits(),
        clock=store.clock,
    )
    await catalog.sources()
    _listen(store, units)
    visit = WidgetVisit(token=a_token(widget, secret=secret), origin=ORIGIN, address="203.0.113.7")
    await both(admit(visit), both(catalog.sources(), circuits.read()))

    assert units.both == (costs.WIDGET.reads, costs.WIDGET.writes)


async def test_a_lookup_reads_and_writes_as_the_page_says(store: StoreWorld, units: Units) -> None:
    secret = new_token_secret()
    credential = a_credential(secret=secret)
    await store.credential_store().create(credential, a_change())
    collection, cards = a_collection(), store.card_store()
    await cards.create_collection(collection, a_change())
    for number in range(5):
        await cards.create_card(a_card(collection, f"m{number}"), a_change())
    admit = Admit(credentials=store.credentials(), rate_limits=store.rate_limits(), clock=store.clock)
    look_up = LookUp(cards=store.card_reader(), clock=store.clock, logger=Logger(service="costs", stream=io.StringIO()))
    request = LookUpRequest(
        collection_id=collection.id,
        terms=[f"m{number}" for number in range(10)],
        deadline=Deadline.after(30, now_s=store.clock.monotonic()),
        request_id="r",
    )
    _listen(store, units)
    admission = admit(a_token(credential, secret=secret), classes=(CredentialClass.AGENT,))
    answer = await look_up(request, admission=admission)

    assert sum(map(bool, answer.results.values())) == 5
    assert units.both == (costs.LOOKUP.reads, costs.LOOKUP.writes)


@pytest.mark.parametrize("lane", ["agent", "widget", "mcp"])
def test_the_lines_of_a_search_are_about_as_long_as_the_page_says(lane: str) -> None:
    lines = io.StringIO()
    stage = Stage(log=Logger(service=f"costs-{lane}", stream=lines))
    for _ in range(5):
        stage.add(act=answering(a_passage()), capabilities=Capabilities(scoring=True))
    with contextlib.redirect_stdout(lines):
        assert _searched(stage, lane).status == 200
    stage.close()
    said = {"agent": costs.SEARCH, "widget": costs.WIDGET, "mcp": costs.MCP}[lane].lines_bytes

    assert 0.75 * said < len(lines.getvalue()) < 1.1 * said


def test_what_a_search_answers_as_a_tool_is_about_as_much_as_the_page_says() -> None:
    """Of results of the usual length, of which REST answers as much as the page says of it."""
    stage = Stage()
    for _ in range(5):
        stage.add(act=answering(a_passage(snippet="word " * 100), a_passage(snippet="word " * 100)))
    rest, tool = stage.agent(), _searched(stage, "mcp")
    stage.close()

    assert len(rest.text) == pytest.approx(costs.SEARCH.answer_bytes, rel=0.05)
    assert len(tool.text) == pytest.approx(costs.MCP.answer_bytes, rel=0.05)


def _searched(stage: Stage, lane: str) -> Answered:
    if lane != "mcp":
        return stage.agent() if lane == "agent" else stage.widget()
    tools = ToolStage(stage)
    event = tools.event("knowledge_search", {"query": "ferry pass"})
    answer = tools.endpoint().handle(event, None)
    tools.glossary.close()
    tools.live.close()
    return Answered(status=answer["statusCode"], headers=answer["headers"], text=answer["body"])


def test_the_page_on_costs_says_what_comes_out() -> None:
    page = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()

    assert page.split("<!-- costs -->\n")[1].split("\n<!-- /costs -->")[0] == costs.pages()


def test_every_part_of_a_bill_is_in_its_total() -> None:
    assert costs.total_of(costs.per_million(costs.SEARCH)) == pytest.approx(
        1 + 0.2 + 13.3334 + 4 * 0.125 + 0.625 + 2.73 * 0.53 + 0.1296 + 0.945
    )
