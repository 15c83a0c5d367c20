"""Answers that are none, and data that is long, many or turned round: nothing of it empties, widens or stops a view."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.console_asked_told import CREDENTIALS, credential
from tests.browser.console_keyboard import button
from tests.browser.console_stage import BASE, HEALTH, NARROW, PROVIDERS, TOKEN, WIDE, ConsoleStage, console_stage
from tests.browser.console_told import ID, contract, health, one_health
from tests.browser.site import Site

pytestmark = [pytest.mark.emulator]

RTL = "مركز المساعدة"
LONG = "W" * 100
# What lies outside of the cell or the card that it stands in.
STICKS_OUT = """() => [...document.querySelectorAll("main td *")].filter((one) => {
  const own = one.getBoundingClientRect(), cell = one.closest("td").getBoundingClientRect();
  const table = one.closest(".table-box").getBoundingClientRect();
  return own.width > 1 && (own.right > cell.right + 1 || own.right > table.right + 1 || own.right > innerWidth + 1);
}).map((one) => one.outerHTML.slice(0, 120))"""
# It waits as long as it would, until it is told to hurry.
IMPATIENT = """const real = AbortSignal.timeout.bind(AbortSignal);
AbortSignal.timeout = (ms) => {
  (window.waited ??= new Set()).add(ms);
  return real(window.hurries ? ms / 100 : ms);
};"""


@pytest.fixture
def stage(open_page: OpenPage, site: Site) -> ConsoleStage:
    stage = console_stage(open_page, site)
    stage.lay("GET", HEALTH, health(one_health()))
    return stage


def test_an_answer_that_is_none_is_told_like_any_other_failure(stage: ConsoleStage, site: Site) -> None:
    page = stage.page
    page.add_init_script(IMPATIENT)
    stage.sign_in()
    box = page.get_by_role("alert")
    again = button(page, "Refresh")
    shapes: tuple[Any, ...] = (None, [], {}, "null")
    for body in shapes:
        stage.lay("GET", HEALTH, body)
        again.click()
        expect(box).to_contain_text("unreadable_answer")
        stage.lay("GET", HEALTH, health(one_health()))
        button(page, "Try again").click()
        expect(box).to_have_count(0)
    stage.lay("GET", HEALTH, {"code": "odd", "title": 5, "detail": [], "errors": "none"}, status=409)
    again.click()
    expect(box).to_contain_text("The request was refused odd")
    stage.lay("GET", HEALTH, None, status=307, Location=f"{BASE}/elsewhere")
    again.click()
    expect(box).to_contain_text("offline")
    assert not [one for one in stage.asked if "elsewhere" in one.url]

    page.route(f"**/api/v1/{HEALTH}", lambda route: route.continue_())
    path = f"{BASE}/api/v1/{HEALTH}"
    for code, more in (("unreadable_answer", {"Connection": "close"}), ("no_answer", {})):
        site.lay(path, '{"status": ', media_type="application/json", Content_Length="5000", **more)
        page.evaluate("(hurries) => { window.hurries = hurries; }", code == "no_answer")
        again.click()
        expect(box).to_contain_text(code)
    assert page.evaluate("[...window.waited]") == [40_000]
    page.unroute(f"**/api/v1/{HEALTH}")
    stage.watched.forget()  # the browser itself notes what was cut and where it was not led


def test_a_view_that_cannot_be_drawn_says_so_and_a_list_that_comes_round_again_ends(stage: ConsoleStage) -> None:
    page = stage.sign_in()
    stage.lay("GET", HEALTH, {"status": "healthy", "providers": None})
    button(page, "Refresh").click()
    box = page.get_by_role("alert")
    expect(box).to_contain_text("not_shown")
    expect(box.get_by_role("link", name="health")).to_be_visible()
    stage.lay("GET", HEALTH, health(one_health()))
    button(page, "Try again").click()
    expect(page.get_by_role("table", name="Providers")).to_be_visible()

    stage.lay("GET", PROVIDERS, {"providers": [contract()], "nextCursor": "again"})
    stage.go_to("#/providers")
    expect(box).to_contain_text("unreadable_answer")
    assert len(stage.calls("GET", PROVIDERS)) <= 3
    stage.lay("GET", PROVIDERS, {"providers": "many", "nextCursor": None})
    button(page, "Try again").click()
    stage.settle()
    stage.go_to("#/providers/..")
    expect(box).to_contain_text("not_found")
    asked = {re.sub(r"\?.*", "", one.url).rpartition("/api/v1/")[2] for one in stage.asked}
    assert asked == {HEALTH, PROVIDERS}
    stage.watched.forget()


def many(made: dict[str, Any], count: int) -> list[dict[str, Any]]:
    return [made | {"id": f"cs_{at:016}", "name": f"{at:03} {LONG}"} for at in range(count)]


def test_long_and_many_things_stay_in_their_cells_and_are_drawn_by_the_fifty(stage: ConsoleStage) -> None:
    address = f"https://{'long-host.' * 20}example/{'x' * 300}"
    listed = many(contract(baseUrl=address, name=LONG), 120)
    stage.lay("GET", PROVIDERS, {"providers": listed, "nextCursor": None})
    granted = credential(name=LONG, grants=["external_knowledge:agent"])
    website = credential("pub", id="b" * 16, name=RTL, origins=[f"https://{'sub.' * 20}example.com"] * 5)
    others = [credential("adm", id="c" * 16), credential("ast", id="d" * 16, grants=["knowledge:read_public"])]
    stage.lay("GET", CREDENTIALS, {"credentials": [granted, website, *others], "nextCursor": None})
    stage.lay("GET", HEALTH, health(one_health("down", name=LONG, explanation="See `secretFingerprint` and `other`.")))
    page = stage.sign_in("#/providers")
    rows = page.get_by_role("row")
    expect(rows).to_have_count(51)
    expect(page.get_by_title(address).first).to_be_visible()
    for size in (NARROW, {"width": 900, "height": 800}, WIDE):
        page.set_viewport_size({"width": size["width"], "height": size["height"]})
        for view in ("health", "credentials", "providers"):
            stage.go_to(f"#/{view}")
            expect(page.get_by_role("table").first).to_be_visible()
            assert page.evaluate(STICKS_OUT) == [], (view, size)
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], (view, size)
    assert page.locator(".cut").first.evaluate("(one) => one.offsetHeight") < 60
    button(page, "Show 50 more of 120").click()
    expect(rows).to_have_count(101)
    button(page, "Show 20 more of 120").press("Enter")
    expect(rows).to_have_count(121)
    expect(rows.nth(101)).to_be_focused()
    stage.go_to("#/credentials")
    expect(rows.nth(2)).to_contain_text("and 2 more origins")
    expect(rows.nth(1)).to_contain_text("all providers")
    stage.go_to("#/health")
    expect(page.locator("q")).to_have_text("Secret's fingerprint")
    expect(page.locator("code", has_text="other")).to_be_visible()


def test_names_from_the_right_turn_nothing_round_and_one_without_a_letter_shows_its_id(stage: ConsoleStage) -> None:
    live: dict[str, Any] = {"kind": "exa", "exposureProfile": "agent_only", "config": {"approvedHosts": []}}
    listed = [contract() | live | {"id": f"ao_{at:016}", "name": f"{RTL} {at}"} for at in range(5)]
    blank = contract(name="\u200e ")
    stage.lay("GET", PROVIDERS, {"providers": [*listed, blank], "nextCursor": None})
    stage.lay("GET", "collections", {"collections": [], "nextCursor": None})
    stage.lay("GET", f"{PROVIDERS}/{ID}", contract(name=RTL), ETag='"2"')
    page = stage.sign_in("#/providers")
    expect(page.get_by_role("link", name=f"({ID})")).to_be_visible()
    stage.go_to("#/workbench")
    few = ", ".join(f"\u2068{RTL} {at}\u2069" for at in range(3))
    expect(page.get_by_text("Questions are real")).to_contain_text(f"{few} and 2 more, which may bill it")
    stage.go_to(f"#/providers/{ID}")
    button(page, "Delete").click()
    expect(page.get_by_role("heading", name="Delete")).to_have_text(f"Delete \u2068{RTL}\u2069")
    assert page.locator("code").first.evaluate("(one) => getComputedStyle(one).unicodeBidi") == "isolate"


def test_a_token_that_was_refused_or_left_behind_is_no_longer_in_its_field(stage: ConsoleStage) -> None:
    page = stage.page
    page.goto(stage.url)
    field = page.get_by_label("Admin token")
    stage.refuse("GET", PROVIDERS, 503, "store_unavailable")
    field.fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("store_unavailable")
    expect(field).to_have_value("")
    field.fill(TOKEN)
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', {persisted: true}))")
    expect(field).to_have_value("")
