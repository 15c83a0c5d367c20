"""The two credentials of the workbench: made when they are needed, and gone however it is left."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import OpenPage
from tests.browser.console_asked_told import CREDENTIALS, Lender, credential
from tests.browser.console_keyboard import button, follow, sign_in, tab_to, type_into
from tests.browser.console_stage import TOKEN, Axe, ConsoleStage
from tests.browser.console_workbench_stage import BOTH, ask, glance, workbench_lender, workbench_stage
from tests.browser.site import Site
from tests.e2e.running import Gateway

pytestmark = [pytest.mark.emulator]


NOTES_WHAT_OUTLIVES_THE_PAGE = """const real = window.fetch; window.outlived = [];
window.fetch = (url, told) => { window.outlived.push([told.method, told.keepalive]); return real(url, told); };"""


@pytest.fixture
def stage(open_page: OpenPage, site: Site) -> ConsoleStage:
    return workbench_stage(open_page, site)


@pytest.fixture
def lender(stage: ConsoleStage) -> Lender:
    return workbench_lender(stage)


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
    with page.expect_response(re.compile("/lent1$")), page.expect_response(re.compile("/lent2$")):
        ask(page, "fare")
    expect(page.get_by_text("Asked in this session (2)")).to_be_visible()
    assert len(lender.made) == 4
    given_back = [one for one in stage.asked if one.method == "DELETE"]
    assert sorted(one.url[-1] for one in given_back) == ["1", "2"]
    assert {one.headers["if-match"] for one in given_back} == {'"1"'}

    with page.expect_response(re.compile("/lent3$")), page.expect_response(re.compile("/lent4$")):
        page.get_by_role("link", name="Providers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Providers")
    assert sorted(one.url[-1] for one in stage.asked if one.method == "DELETE") == ["1", "2", "3", "4"]
    page.get_by_role("button", name="Sign out").click()
    stage.sign_in("#/workbench")
    expect(page.get_by_role("textbox", name="Question")).to_have_value("")
    expect(page.get_by_text("Asked in this session")).to_have_count(0)


def test_what_is_being_lent_when_the_session_ends_is_given_back_as_well(stage: ConsoleStage, lender: Lender) -> None:
    page = stage.sign_in("#/workbench")
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route(f"**/api/v1/{CREDENTIALS}", hold)
    ask(page)
    stage.wait_for(waiting, 2)
    button(page, "Sign out").click()
    expect(page.get_by_label("Admin token")).to_be_visible()
    assert len(waiting) == 2
    with page.expect_response(re.compile("/lent1$")), page.expect_response(re.compile("/lent2$")):
        for route in waiting:
            lender.lend(route)
    given_back = [one for one in stage.asked if one.method == "DELETE"]
    assert [one.headers["authorization"] for one in given_back] == [f"Bearer {TOKEN}"] * 2


def test_what_the_gateway_would_not_delete_is_said_and_tried_again(stage: ConsoleStage, lender: Lender) -> None:
    page = stage.page
    page.add_init_script(NOTES_WHAT_OUTLIVES_THE_PAGE)
    stage.sign_in("#/workbench")
    ask(page)
    expect(glance(page)).to_be_visible()
    stage.refuse("DELETE", f"{CREDENTIALS}/lent1", 412, "precondition_failed")
    page.get_by_role("link", name="Providers").click()
    expect(page.get_by_role("status").filter(has_text="is not deleted yet. It ends by itself at")).to_be_visible()
    page.get_by_role("link", name="Workbench").click()
    expect(page.get_by_text("1 earlier one is not deleted yet")).to_be_visible()

    stage.lay("GET", f"{CREDENTIALS}/lent1", credential(id="lent1", generation=2), ETag='"2"')
    stage.lay("DELETE", f"{CREDENTIALS}/lent1", None, status=204)
    with page.expect_response(lambda answer: answer.request.method == "DELETE" and answer.url.endswith("/lent1")):
        ask(page)
    expect(page.get_by_text("earlier one is not deleted yet")).to_have_count(0)
    tags = [one.headers["if-match"] for one in stage.calls("DELETE", f"{CREDENTIALS}/lent1")]
    assert tags == ['"1"', '"2"']
    outlived = page.evaluate("window.outlived")
    assert {method for method, keepalive in outlived if keepalive} == {"POST", "DELETE", "GET"}
    assert ["DELETE", False] not in outlived


def test_what_a_killed_page_has_left_is_cleared_away(stage: ConsoleStage, lender: Lender) -> None:
    ended = credential(id="lent3", name=BOTH[1], expiresAt="2026-01-01T00:00:00Z", generation=7)
    others = [
        credential(id="lent4", name=BOTH[1], expiresAt="2099-01-01T00:00:00Z"),
        credential(id="lent4", name="Ticket tool", expiresAt="2026-01-01T00:00:00Z"),
    ]
    stage.lay("GET", CREDENTIALS, {"credentials": [ended, *others], "nextCursor": None})
    page = stage.sign_in("#/workbench")
    with page.expect_response(re.compile("/lent3$")):
        ask(page)
    expect(glance(page)).to_be_visible()
    given_back = [one for one in stage.asked if one.method == "DELETE"]
    assert [(one.url[-5:], one.headers["if-match"]) for one in given_back] == [("lent3", '"7"')]


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
