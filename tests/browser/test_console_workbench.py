"""The workbench of the console: one question, as an agent and as a customer, and credentials that do not outlive it."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.console_asked_told import (
    CREDENTIALS,
    HOSTILE,
    INSIDE,
    SEARCH,
    Lender,
    agent_answer,
    agent_result,
    card,
    collection,
    customer_answer,
    customer_result,
    outcome,
)
from tests.browser.console_keyboard import button, follow, sign_in, tab_to, type_into
from tests.browser.console_stage import PROVIDERS, Axe, ConsoleStage, Keep, console_stage, flawless, problem
from tests.browser.console_told import SINCE, contract
from tests.browser.site import Site
from tests.e2e.running import Gateway

pytestmark = [pytest.mark.emulator]

BOTH = ["Console workbench, as a customer (short-lived)", "Console workbench, as an agent (short-lived)"]
SHARED = agent_result()
HIDDEN = agent_result(
    provider={"id": INSIDE, "name": HOSTILE[0], "kind": "exa"},
    title=HOSTILE[1],
    snippet="\n".join([*HOSTILE, "[run](javascript:alert(1))", "long " * 200]),
    url="https://desk.example.com/x",
    audience="internal",
    evidence="derived_context",
    locale=None,
    localeFallback=None,
)
ANSWER = agent_answer(
    status="partial",
    results=[HIDDEN, SHARED],
    discoveries=[
        {
            "provider": HIDDEN["provider"],
            "url": "javascript:alert(1)",
            "title": HOSTILE[2],
            "library": "/acme/widgets",
            "libraryVersion": "2",
        }
    ],
    cards=[card(title=HOSTILE[0], body=HOSTILE[1], keys=list(HOSTILE))],
    cardsStatus="partial",
    providers=[
        outcome(truncated=True, warnings=["internal_dropped"]),
        outcome(id=INSIDE, name=HOSTILE[0], status="failed", errorCode="timeout", durationMs=12_000, resultCount=0),
        outcome(id="ao_l3j5mq2x7a4bwz6t", name=None, status="skipped", errorCode="circuit_open", retryAt=SINCE),
    ],
)


@pytest.fixture
def stage(open_page: OpenPage, site: Site) -> ConsoleStage:
    stage = console_stage(open_page, site)
    inside = contract(id=INSIDE, name=HOSTILE[0], exposureProfile="agent_only")
    stage.lay("GET", PROVIDERS, {"providers": [contract(), inside], "nextCursor": None})
    stage.lay("GET", "collections", {"collections": [collection(name=HOSTILE[1])], "nextCursor": None})
    stage.lay("GET", CREDENTIALS, {"credentials": [], "nextCursor": None})
    return stage


@pytest.fixture
def lender(stage: ConsoleStage) -> Lender:
    lender = Lender(ANSWER, customer_answer(customer_result(SHARED), cards=[]))
    stage.page.route(f"**/api/v1/{CREDENTIALS}", lender.lend)
    stage.page.route(f"**/api/v1/{SEARCH}", lender.answer)
    for number in range(1, 5):
        stage.lay("DELETE", f"{CREDENTIALS}/lent{number}", None, status=204)
    return lender


def ask(page: Page, query: str = "ferry pass") -> None:
    page.get_by_role("textbox", name="Question").fill(query)
    page.keyboard.press("Enter")


def glance(page: Page) -> Any:
    return page.get_by_role("region", name="At a glance")


def asked_with(stage: ConsoleStage, page: Page) -> dict[str, Any]:
    """What the next question sends, by class."""
    sent: dict[str, Any] = {}
    page.on("request", lambda one: _note(sent, one) if one.url.endswith(SEARCH) else None)
    ask(page)
    expect(glance(page)).to_be_visible()
    return sent


def _note(sent: dict[str, Any], request: Any) -> None:
    sent[request.headers["authorization"].split("_")[1]] = json.loads(request.post_data)


def test_both_answers_stand_side_by_side_and_what_a_customer_is_not_shown_is_said(
    stage: ConsoleStage, lender: Lender, axe: Axe, screenshots: Keep
) -> None:
    page = stage.sign_in("#/workbench")
    flawless(page, axe, screenshots, "workbench")
    page.get_by_text("Providers, collections, and more").click()
    page.get_by_label(HOSTILE[1]).check()
    ask(page)
    expect(glance(page)).to_contain_text("2 for agents")
    expect(glance(page)).to_contain_text("1 for customers")
    expect(glance(page)).to_contain_text("1 not shown to customers")
    expect(glance(page)).to_contain_text("timeout")

    hidden, shared = page.get_by_role("tabpanel", name="Passages").get_by_role("listitem").all()
    expect(hidden).to_contain_text("Not shown to customers")
    expect(hidden).to_contain_text("Its source is agent_only")
    expect(shared.get_by_text(SHARED["snippet"])).to_have_count(2)
    for text in HOSTILE:
        expect(hidden).to_contain_text(text)
    page.get_by_role("button", name=re.compile("Show all .* characters")).click()
    flawless(page, axe, screenshots, "workbench-passages")

    page.get_by_role("tab", name=re.compile("Cards .1")).click()
    expect(page.get_by_text("Its collection is agent_only")).to_be_visible()
    expect(page.get_by_text("Not every collection could be looked through")).to_be_visible()
    page.get_by_role("tab", name=re.compile("Places to look further")).click()
    expect(page.get_by_text(HOSTILE[2], exact=True)).to_be_visible()
    assert page.locator("a[href^=javascript]").count() == 0
    page.get_by_role("tab", name="Raw JSON").click()
    flawless(page, axe, screenshots, "workbench-raw")


def test_who_was_asked_is_shown_with_times_reasons_and_config(
    stage: ConsoleStage, lender: Lender, axe: Axe, screenshots: Keep
) -> None:
    page = stage.sign_in("#/workbench")
    ask(page)
    page.get_by_role("tab", name=re.compile("Providers .3")).click()
    lanes = page.locator(".time-line > li")
    bars = [one.bounding_box() for one in page.locator(".track > span").all()]
    assert bars[0] is not None
    assert bars[1] is not None
    assert bars[1]["width"] / bars[0]["width"] == pytest.approx(12_000 / 300, rel=0.1)
    expect(lanes.nth(0)).to_contain_text("truncated")
    expect(lanes.nth(0)).to_contain_text("It gave internal passages")
    expect(lanes.nth(1)).to_contain_text("The provider did not answer completely in its time")
    expect(lanes.nth(2)).to_contain_text("from retryAt on it is tried again")
    expect(lanes.nth(2)).to_contain_text("It may be asked again")
    lanes.nth(0).get_by_text("Effective config").click()
    expect(lanes.nth(0)).to_contain_text("https://kb.example.com/v1")
    flawless(page, axe, screenshots, "workbench-providers")


def test_customers_are_asked_only_what_customers_can_say(stage: ConsoleStage, lender: Lender) -> None:
    page = stage.sign_in("#/workbench")
    page.get_by_text("Providers, collections, and more").click()
    page.get_by_label("Help centre").check()
    page.get_by_label("Repository").fill("acme/widgets")
    page.get_by_label("Freshness").select_option("fresh")
    page.get_by_label("Passages").fill("3")
    sent = asked_with(stage, page)
    common = {"query": "ferry pass", "limit": 3, "deadlineMs": 12_000}
    told = {"providers": [contract()["id"]], "repository": "acme/widgets", "freshness": "fresh"}
    assert sent == {"agt": common | told, "ast": common}
    expect(glance(page)).to_contain_text("Said by agents alone")

    page.get_by_label("Repository").fill("")
    page.get_by_text("Asked in this session (1)").click()
    button(page, "Ask again: ferry pass").click()
    expect(page.get_by_text("Asked in this session (2)")).to_be_visible()
    expect(page.get_by_label("Repository")).to_have_value("acme/widgets")


def test_the_credentials_last_a_quarter_of_an_hour_and_are_renewed_and_given_back(
    stage: ConsoleStage, lender: Lender
) -> None:
    page = stage.page
    page.clock.install()
    stage.sign_in("#/workbench")
    assert lender.made == []
    ask(page)
    expect(glance(page)).to_be_visible()
    assert [(one["class"], one.get("grants", [])) for one in lender.made] == [
        ("agt", []),
        ("ast", ["knowledge:read_public"]),
    ]
    lasts = page.evaluate("([end]) => Date.parse(end) - Date.now()", [lender.made[0]["expiresAt"]])
    assert 14 * 60_000 < lasts <= 15 * 60_000
    expect(page.get_by_text("2 short-lived credentials in use until")).to_be_visible()

    page.clock.fast_forward("14:10")
    button(page, "Stay signed in").click()
    ask(page, "fare")
    expect(page.get_by_text("Asked in this session (2)")).to_be_visible()
    assert len(lender.made) == 4
    given_back = [one for one in stage.asked if one.method == "DELETE"]
    assert sorted(one.url[-1] for one in given_back) == ["1", "2"]
    assert {one.headers["if-match"] for one in given_back} == {'"1"'}

    page.get_by_role("link", name="Providers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Providers")
    assert sorted(one.url[-1] for one in stage.asked if one.method == "DELETE") == ["1", "2", "3", "4"]
    page.get_by_role("button", name="Sign out").click()
    stage.sign_in("#/workbench")
    expect(page.get_by_role("textbox", name="Question")).to_have_value("")
    expect(page.get_by_text("Asked in this session")).to_have_count(0)


def test_a_question_that_fails_says_why_at_its_field_or_for_each_of_the_two(
    stage: ConsoleStage, lender: Lender, axe: Axe, screenshots: Keep
) -> None:
    page = stage.sign_in("#/workbench")
    wrong = problem(422, "invalid_request", errors=[{"pointer": "/query", "detail": "Say something."}])
    lender.by_class["agt"] = wrong
    ask(page, "")
    expect(page.get_by_role("textbox", name="Question")).to_have_accessible_description(re.compile("Say something."))
    flawless(page, axe, screenshots, "workbench-wrong")

    lender.by_class["agt"] = ANSWER
    for status, code in ((429, "rate_limited"), (503, "store_unavailable"), (422, "invalid_request")):
        lender.by_class["ast"] = problem(status, code)
        ask(page)
        expect(page.get_by_text("Customers got no answer").first).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text(code)
        expect(page.get_by_text(SHARED["snippet"])).to_have_count(1)

    lender.by_class["agt"] = lender.by_class["ast"] = problem(401, "unauthenticated")
    ask(page)
    expect(page.get_by_text("Agents got no answer")).to_be_visible()
    assert len(lender.made) == 4  # one more try with new ones, and nobody is signed out
    page.route(f"**/api/v1/{SEARCH}", lambda route: route.abort("connectionrefused"))
    ask(page)
    expect(page.get_by_role("alert").first).to_contain_text("offline")
    stage.watched.forget()  # the browser itself notes a line that was cut


def test_cards_are_looked_up_and_matched_as_both(
    stage: ConsoleStage, lender: Lender, axe: Axe, screenshots: Keep
) -> None:
    page = stage.sign_in("#/workbench?tab=cards")
    found = card(title=HOSTILE[0], body=HOSTILE[1])
    path = f"**/api/v1/collections/{found['collectionId']}/context-cards"
    looked = Lender({"results": {"Ferry pass": [found], "x": []}, "dropped": 2}, problem(404, "not_found"))
    matched = Lender({"cards": [found], "dropped": 0}, {"cards": [], "dropped": 0})
    page.route(f"{path}/lookup", looked.answer)
    page.route(f"{path}/match", matched.answer)
    page.get_by_role("textbox", name="Terms").fill("Ferry pass\nx\nx\n")
    button(page, "Ask as both").click()
    expect(page.get_by_role("heading", name="Ferry pass", exact=True)).to_be_visible()
    expect(page.get_by_text("Its collection is agent_only")).to_be_visible()
    expect(page.get_by_text("No card fits")).to_be_visible()
    expect(page.get_by_text("2 cards had no room")).to_be_visible()
    flawless(page, axe, screenshots, "workbench-cards")
    page.get_by_label("Match a text").check()
    page.get_by_role("textbox", name="Text").fill("A ferry pass, please")
    button(page, "Ask as both").click()
    expect(page.get_by_text(HOSTILE[0], exact=True)).to_be_visible()


def lent(demo: Gateway) -> list[str]:
    """Names of the workbench's credentials at the gateway."""
    listed = demo.as_admin("GET", "/api/v1/credentials?limit=100").found["credentials"]
    return sorted(one["name"] for one in listed if "workbench" in one["name"])


def until_none_is_lent(demo: Gateway) -> None:
    until = time.monotonic() + 15
    while lent(demo):
        assert time.monotonic() < until, lent(demo)
        time.sleep(0.05)


def ask_the_help_centre(page: Page) -> None:
    """With the keyboard alone."""
    follow(page, "Workbench")
    tab_to(page, page.get_by_text("Providers, collections, and more"))
    page.keyboard.press("Enter")
    for name in ("Help centre", "Service desk"):
        tab_to(page, page.get_by_role("checkbox", name=re.compile(f"^{name}")))
        page.keyboard.press("Space")
    tab_to(page, page.get_by_role("link", name="Workbench"))
    type_into(page, "Question", "ferry pass")
    page.keyboard.press("Enter")
    expect(glance(page)).to_contain_text("complete")


def ask_in_a_hurry(page: Page) -> None:
    """So short of time that no live service is asked."""
    page.get_by_label("Deadline").fill("500")
    ask(page)
    expect(glance(page)).to_be_visible()


def test_a_question_is_compared_without_a_mouse_and_its_credentials_are_gone_however_one_leaves(
    demo: Gateway, open_page: OpenPage, axe: Axe
) -> None:
    page = open_page(demo.console).page
    demo.as_admin("GET", "/api/v1/audit?limit=1")
    sign_in(page, demo.admin)
    ask_the_help_centre(page)
    assert lent(demo) == BOTH
    passages = page.get_by_role("tabpanel", name="Passages").get_by_role("listitem")
    expect(passages.filter(has_text="Service desk").first).to_contain_text("Not shown to customers")
    expect(passages.filter(has_text="Help centre").first).not_to_contain_text("Not shown to customers")
    tab_to(page, page.get_by_role("tab", name=re.compile("Passages")))
    page.keyboard.press("End")
    expect(page.get_by_role("tabpanel", name="Raw JSON")).to_contain_text("As it was sent")
    assert axe(page) == []
    follow(page, "Pools")
    until_none_is_lent(demo)

    follow(page, "Workbench")
    ask_in_a_hurry(page)
    assert lent(demo) == BOTH
    tab_to(page, button(page, "Sign out"), key="Shift+Tab")
    page.keyboard.press("Enter")
    until_none_is_lent(demo)

    sign_in(page, demo.admin, "Workbench")
    ask_in_a_hurry(page)
    assert lent(demo) == BOTH
    page.close()
    until_none_is_lent(demo)
