"""The workbench of the console: one question, as an agent and as a customer, side by side."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.console_asked_told import HOSTILE, SEARCH, Lender, card
from tests.browser.console_keyboard import button
from tests.browser.console_stage import Axe, ConsoleStage, Keep, flawless, problem
from tests.browser.console_told import contract
from tests.browser.console_workbench_stage import ANSWER, SHARED, ask, glance, workbench_lender, workbench_stage
from tests.browser.site import Site

pytestmark = [pytest.mark.emulator]


@pytest.fixture
def stage(open_page: OpenPage, site: Site) -> ConsoleStage:
    return workbench_stage(open_page, site)


@pytest.fixture
def lender(stage: ConsoleStage) -> Lender:
    return workbench_lender(stage)


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
    outside = page.locator("a[target=_blank]")
    assert {one.get_attribute("rel") for one in outside.all()} == {"noopener noreferrer"}
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


def test_a_question_that_fails_says_why_at_its_field_or_for_each_of_the_two(
    stage: ConsoleStage, lender: Lender, axe: Axe, screenshots: Keep
) -> None:
    page = stage.sign_in("#/workbench")
    ask(page, " ")
    expect(page.get_by_role("textbox", name="Question")).to_be_focused()
    expect(page.get_by_text("Write a question first.").first).to_be_visible()
    assert lender.made == []
    wrong = problem(422, "invalid_request", errors=[{"pointer": "/query", "detail": "Say something."}])
    lender.by_class["agt"] = wrong
    ask(page)
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
    expect(page.locator(".passage-title").get_by_text(HOSTILE[0], exact=True)).to_be_visible()
