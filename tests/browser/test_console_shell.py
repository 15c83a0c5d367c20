"""The console's frame: signing in and out, where the token is, what is said when a call fails."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.console_stage import (
    HEALTH,
    NARROW,
    PROVIDERS,
    TOKEN,
    Axe,
    ConsoleStage,
    Keep,
    console_stage,
    flawless,
)
from tests.browser.console_told import health, one_health
from tests.browser.site import Site

pytestmark = [pytest.mark.emulator]

# All that a page can keep, and all of it that is drawn.
KEPT = """async () => [
  JSON.stringify(localStorage), JSON.stringify(sessionStorage), JSON.stringify(await indexedDB.databases()),
  JSON.stringify(await (self.caches ? caches.keys() : [])), document.cookie, location.href,
  JSON.stringify(history.state), window.name, document.title, document.documentElement.outerHTML,
  ...[...document.querySelectorAll("input, textarea")].map((field) => field.value),
]"""


@pytest.fixture
def stage(open_page: OpenPage, site: Site) -> ConsoleStage:
    stage = console_stage(open_page, site)
    stage.lay("GET", HEALTH, health(one_health()))
    return stage


def kept(page: Page) -> str:
    return "\n".join(page.evaluate(KEPT))


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in to the console")


def test_the_sign_in_breaks_no_rule_and_says_what_is_wrong_with_a_token_without_sending_it(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    page = stage.page
    page.goto(stage.url)
    field = page.get_by_label("Admin token")
    expect(field).to_be_focused()
    flawless(page, axe, screenshots, "sign-in")

    for token, words in (
        ("", "Enter your admin token."),
        (f"kg_agt_{'c3' * 8}_x", "This is no admin token."),
        ("secret word", "This is no token"),
    ):
        field.fill(token)
        page.keyboard.press("Enter")
        expect(field).to_have_accessible_description(re.compile(words))
        expect(field).to_be_focused()
    flawless(page, axe, screenshots, "sign-in-wrong")
    assert stage.asked == []

    stage.refuse("GET", PROVIDERS, 401, "unauthenticated")
    field.fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The gateway does not know this token")
    expect(page.get_by_role("navigation")).to_have_count(0)
    flawless(page, axe, screenshots, "sign-in-refused")


def test_the_token_is_masked_and_no_browser_is_asked_to_keep_it(stage: ConsoleStage) -> None:
    page = stage.page
    page.goto(stage.url)
    field = page.get_by_label("Admin token")
    assert field.evaluate("(field) => getComputedStyle(field).webkitTextSecurity") == "disc"
    assert {name: field.get_attribute(name) for name in ("type", "autocomplete", "spellcheck", "name")} == {
        "type": "text",
        "autocomplete": "off",
        "spellcheck": "false",
        "name": None,
    }


def test_the_token_is_in_memory_alone_and_goes_with_the_session(stage: ConsoleStage) -> None:
    page = stage.sign_in()
    expect(page.get_by_role("table").first).to_be_visible()
    assert stage.calls("GET", HEALTH)[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in kept(page)
    page.get_by_role("link", name="Providers").click()
    sign_out(page)
    assert TOKEN not in kept(page)
    assert "Source 0" not in kept(page)

    asked = len(stage.asked)
    page.go_back()
    expect(page.get_by_label("Admin token")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Admin token")).to_have_value("")
    assert len(stage.asked) == asked
    assert page.context.cookies() == []


def test_a_session_that_is_not_used_is_announced_to_end_and_ends(stage: ConsoleStage) -> None:
    page = stage.page
    page.clock.install()
    stage.sign_in()
    page.clock.fast_forward("14:05")
    expect(page.get_by_role("status").filter(has_text="You are signed out in")).to_be_visible()
    page.clock.fast_forward("00:20")
    expect(page.get_by_text("You are signed out in 45 seconds")).to_be_visible()
    page.get_by_role("button", name="Stay signed in").click()
    expect(page.get_by_text("You are signed out in")).to_have_count(0)
    page.clock.fast_forward("14:05")
    expect(page.get_by_text("You are signed out in")).to_be_visible()
    page.clock.fast_forward("01:00")
    expect(page.get_by_text("You were signed out after 15 minutes without use.")).to_be_visible()
    assert TOKEN not in kept(page)


def test_a_token_that_is_no_longer_taken_leads_back_to_the_sign_in_and_then_to_the_same_place(
    stage: ConsoleStage,
) -> None:
    page = stage.sign_in("#/providers")
    stage.refuse("GET", HEALTH, 401, "unauthenticated")
    page.get_by_role("link", name="Health").click()
    expect(page.get_by_text("The gateway no longer takes that token")).to_be_visible()
    stage.lay("GET", HEALTH, health(one_health()))
    page.get_by_label("Admin token").fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Health")


def test_what_went_wrong_is_said_with_its_code_and_what_to_do(stage: ConsoleStage, axe: Axe, screenshots: Keep) -> None:
    page = stage.sign_in()
    again = page.get_by_role("button", name="Refresh", exact=True)
    box = page.get_by_role("alert")
    for status, code, wait, advice in (
        (403, "forbidden", None, "Sign in with an admin token."),
        (404, "not_found", None, "It may have been deleted meanwhile."),
        (429, "rate_limited", "7", "Try again in 7 s."),
        (500, "internal_error", None, "look up the request id"),
        (503, "store_unavailable", "2", "Nothing was changed. Try again in 2 s."),
    ):
        stage.refuse("GET", HEALTH, status, code, **({"Retry_After": wait} if wait else {}))
        again.click()
        expect(box).to_contain_text(code)
        expect(box).to_contain_text(advice)
        expect(box).to_contain_text("JKJaXmPLvHcESHA=")
    flawless(page, axe, screenshots, "problem")

    stage.break_line("GET", HEALTH)
    again.click()
    expect(box).to_contain_text("offline")
    expect(box).to_contain_text("Look at your connection")
    stage.lay("GET", HEALTH, "no problem at all", status=502)
    again.click()
    expect(box).to_contain_text("unreadable_answer")
    stage.lay("GET", HEALTH, health(one_health()))
    page.get_by_role("button", name="Try again").click()
    expect(box).to_have_count(0)
    stage.watched.forget()  # the browser itself notes a line that was cut


def test_a_view_that_was_left_is_not_waited_for(stage: ConsoleStage) -> None:
    page = stage.sign_in("#/providers")
    page.route(f"**/api/v1/{HEALTH}", lambda _: None)  # no answer ever
    with page.expect_event("requestfailed") as failed:
        with page.expect_request(f"**/api/v1/{HEALTH}"):
            page.get_by_role("link", name="Health").click()
        expect(page.get_by_role("status", name="Loading")).to_be_visible()
        page.get_by_role("link", name="Providers").click()
    assert failed.value.url.endswith(HEALTH)
    assert failed.value.failure == "net::ERR_ABORTED"


def test_the_frame_is_used_by_keyboard_and_unfolds_on_a_phone(stage: ConsoleStage, axe: Axe, screenshots: Keep) -> None:
    page = stage.sign_in("#/nowhere/at/all")
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing is here")
    page.reload()
    stage.sign_in()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.get_by_role("link", name="Providers").focus()
    page.keyboard.press("Enter")
    heading = page.get_by_role("heading", level=1, name="Providers")
    expect(heading).to_be_focused()
    expect(page).to_have_title("Providers · Knowledge Gateway")

    page.set_viewport_size(NARROW)
    menu = page.get_by_role("button", name="Menu")
    expect(page.get_by_role("navigation")).to_be_hidden()
    menu.press("Enter")
    expect(menu).to_have_attribute("aria-expanded", "true")
    flawless(page, axe, screenshots, "menu")
    page.set_viewport_size(NARROW)
    page.get_by_role("link", name="Health").press("Escape")
    expect(menu).to_be_focused()
    expect(page.get_by_role("navigation")).to_be_hidden()
