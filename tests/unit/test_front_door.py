"""Every function that reads data, behind a distribution: what did not come through that is refused before anything is
looked at, and what did is answered as ever.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from functions.admin import wiring as admin_wiring
from functions.live import wiring as live_wiring
from functions.live.routes import api_for as live_api
from functions.lookup import wiring as lookup_wiring
from functions.lookup.routes import api_for as lookup_api
from functions.mcp import wiring as mcp_wiring
from functions.search import wiring as search_wiring
from functions.search.routes import api_for as search_api
from functions.widget import wiring as widget_wiring
from functions.widget.routes import api_for as widget_api
from infra.functions import FUNCTIONS, is_behind_front
from infra.local.functions import environments
from shared.adapters.front_door import DynamoFrontDoor
from shared.domain.front import FrontDigests, digest_of
from shared.errors import Unavailable
from tests.support.admin_stage import AdminStage
from tests.support.builders import a_passage, a_token
from tests.support.front_fakes import FakeFrontDoor
from tests.support.live_stage import LiveStage
from tests.support.lookup_stage import LookupStage
from tests.support.search_stage import Answered, Stage
from tests.support.tool_stage import ToolStage

SHOWN = "c" * 64
THROUGH = {"x-kg-front": SHOWN}
WIDGET = "/api/v1/knowledge/widget/search"
Ask = Callable[[dict[str, str]], Answered]


@pytest.fixture
def door() -> FakeFrontDoor:
    return FakeFrontDoor(FrontDigests(digest_of(SHOWN)))


@pytest.fixture
def stages() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def stage(door: FakeFrontDoor, stages: ExitStack) -> Stage:
    made = Stage()
    stages.callback(made.close)
    made.widget_api = widget_api(replace(made._widget_parts(), front=door))
    made.search_api = search_api(replace(made._search_parts(0.0), front=door))
    return made


@pytest.fixture(params=["search", "lookup", "live", "mcp", "admin"])
def ask(request: pytest.FixtureRequest, door: FakeFrontDoor, stages: ExitStack) -> Ask:
    """Sends one request with these headers beside its own."""
    if request.param == "search":
        stage: Stage = request.getfixturevalue("stage")
        return lambda headers: stage.agent(headers=headers)
    asks = {"lookup": _ask_lookup, "live": _ask_live, "mcp": _ask_mcp, "admin": _ask_admin}
    return asks[request.param](door, stages)


def _ask_lookup(door: FakeFrontDoor, stages: ExitStack) -> Ask:
    lookup = LookupStage()
    stages.callback(lookup.close)
    lookup._api = lookup_api(replace(lookup._parts(), front=door))
    handle = lookup._api.handle

    def ask(headers: dict[str, str]) -> Answered:
        lookup._api.handle = lambda event, context: handle(  # type: ignore[method-assign]
            {**event, "headers": {**event["headers"], **headers}}, context
        )
        return lookup.agent("lookup", "col_unknown", terms=["x"])

    return ask


def _ask_live(door: FakeFrontDoor, stages: ExitStack) -> Ask:
    live = LiveStage()
    stages.callback(live.close)
    live.api = live_api(replace(live.parts, front=door))
    live.add()
    return lambda headers: live.acquire(headers=headers)


def _ask_mcp(door: FakeFrontDoor, stages: ExitStack) -> Ask:
    tools = ToolStage()
    stages.callback(tools.close)
    api = tools.endpoint(front=door)

    def ask(headers: dict[str, str]) -> Answered:
        answer = api.handle(tools.event("knowledge_search", {"query": "ferry pass"}, headers=headers), None)
        return Answered(status=answer["statusCode"], headers=answer["headers"], text=answer["body"])

    return ask


def _ask_admin(door: FakeFrontDoor, stages: ExitStack) -> Ask:
    admin = AdminStage()
    stages.callback(admin.close)
    admin.api._front = door
    return lambda headers: admin.call("GET", "/api/v1/credentials", headers=headers)


def test_what_came_through_is_seen_to(ask: Ask) -> None:
    assert ask(THROUGH).status != 403


@pytest.mark.parametrize("headers", [{}, {"x-kg-front": "d" * 64}], ids=["nothing", "something-else"])
def test_what_did_not_is_refused_with_one_problem(ask: Ask, headers: dict[str, str]) -> None:
    answer = ask(headers)
    assert (answer.status, answer.json["code"]) == (403, "not_through_front")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["X-Request-Id"] == answer.json["requestId"]


def test_before_the_first_value_is_made_known_everything_is_refused(ask: Ask, door: FakeFrontDoor) -> None:
    door.digests = None
    assert ask(THROUGH).json["code"] == "not_through_front"


def test_without_a_store_it_is_a_matter_of_time(ask: Ask, door: FakeFrontDoor) -> None:
    door.failure = Unavailable("Try again in a few seconds.", retry_after_s=5)
    answer = ask(THROUGH)
    assert (answer.status, answer.json["code"], answer.headers["Retry-After"]) == (503, "store_unavailable", "5")


def test_nobody_is_looked_up_for_a_request_that_did_not_come_through(stage: Stage) -> None:
    stage.add(a_passage())
    stage.agent()
    stage.widget()
    assert not stage.retriever.asked
    assert not stage.rate_limits.counts


# --- the widget ----------------------------------------------------------------------------------


def test_a_widget_is_refused_in_the_same_bytes_as_ever(stage: Stage) -> None:
    stage.widget(headers=THROUGH)  # so that the key is known to the process
    outside = stage.widget()
    refused = stage.widget(token="nonsense", headers=THROUGH)
    assert outside.status == refused.status == 403
    assert outside.text == refused.text

    def without_id(answer: Answered) -> dict[str, str]:
        return {name: value for name, value in answer.headers.items() if name != "X-Request-Id"}

    assert without_id(outside) == without_id(refused)


def test_a_preflight_has_to_come_through_too(stage: Stage) -> None:
    assert stage.preflight(headers=THROUGH).status == 204
    assert stage.preflight().status == 403


@pytest.mark.parametrize("forged", ["x-forwarded-for", "forwarded", "x-real-ip"])
def test_a_visitor_is_counted_by_the_address_that_the_distribution_saw(stage: Stage, forged: str) -> None:
    stage.add(a_passage())

    def status(viewer: str, note: str = "203.0.113.7") -> int:
        headers = {**THROUGH, "cloudfront-viewer-address": viewer, forged: note}
        return stage.widget(headers=headers, address="192.0.2.1").status

    assert {status("198.51.100.10:46532", f"203.0.113.{n}") for n in range(30)} == {200}
    assert status("198.51.100.10:51000", "203.0.113.99") == 429
    assert status("2001:db8::1:46532") == 200


def test_a_dify_is_refused_in_its_own_words(stage: Stage) -> None:
    assert stage.dify(headers=THROUGH).status == 200
    refused = stage.dify()
    assert (refused.status, set(refused.json)) == (403, {"error_code", "error_msg"})


def test_without_a_front_no_header_of_one_is_believed() -> None:
    stage = Stage()
    stage.add(a_passage())
    statuses = [
        stage.widget(headers={**THROUGH, "cloudfront-viewer-address": f"198.51.100.{n}:1"}).status for n in range(31)
    ]
    stage.close()
    assert statuses == [200] * 30 + [429]


# --- wiring --------------------------------------------------------------------------------------

_WIRED = {
    "search": search_wiring.wired,
    "widget": widget_wiring.wired,
    "lookup": lookup_wiring.wired,
    "live": live_wiring.wired,
    "mcp": mcp_wiring.wired,
    "admin": admin_wiring.wired,
}


@pytest.fixture
def _region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")


def told(name: str) -> dict[str, str]:
    return environments(store=defaultdict(lambda: "x"), client={})[name]


@pytest.mark.usefixtures("_region")
@pytest.mark.parametrize("name", _WIRED)
def test_a_function_has_the_door_exactly_where_the_stack_says_so(name: str) -> None:
    without: Any = _WIRED[name](told(name))
    behind: Any = _WIRED[name](told(name) | {"KG_FRONT_REQUIRED": "true"})
    assert without.front is None
    assert isinstance(behind.front, DynamoFrontDoor)


def test_every_function_that_reads_data_for_callers_is_behind_the_front() -> None:
    assert {one.name for one in FUNCTIONS if is_behind_front(one)} == set(_WIRED)


@pytest.mark.usefixtures("_region")
def test_the_widget_learns_of_the_door_from_public_things() -> None:
    made: Any = widget_wiring.wired(
        {
            "KG_TABLE_REGISTRATIONS_PUBLIC": "public",
            "KG_TABLE_LEDGER_PUBLIC": "ledger",
            "KG_KEY_PUBLIC": "key",
            "KG_FRONT_REQUIRED": "true",
        }
    )
    assert made.front._table == "public"


def test_a_token_is_of_no_use_outside(stage: Stage) -> None:
    token = a_token(stage.agent_credential)
    assert stage.agent(token=token).status == 403
    assert stage.agent(token=token, headers=THROUGH).status == 200
