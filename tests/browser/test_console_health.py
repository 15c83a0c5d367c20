"""The console's health: every state, what is not known, one provider's history, and how it keeps itself up to date."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.console_stage import HEALTH, Axe, ConsoleStage, Keep, console_stage, flawless
from tests.browser.console_told import ID, STATES, TROUBLED, happening, health, health_of_one, one_health
from tests.browser.site import Site

pytestmark = [pytest.mark.emulator]

EVERY_STATE = [one_health(state, at=at) for at, state in enumerate(STATES)]


@pytest.fixture
def stage(open_page: OpenPage, site: Site) -> ConsoleStage:
    return console_stage(open_page, site)


def test_every_state_is_told_the_worst_first_with_what_is_not_known(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    parts = ["customer_circuits", "rests"]
    stage.lay("GET", HEALTH, health(*EVERY_STATE, stale=True, unavailable=parts, status="down"))
    page = stage.sign_in()
    rows = page.get_by_role("table", name="Providers").get_by_role("row")
    expect(rows).to_have_count(len(STATES) + 1)
    names = [str(one["name"]) for one in EVERY_STATE]
    assert [row.get_by_role("link").inner_text() for row in rows.all()[1:]] == names
    overall = page.get_by_role("region", name="Overall")
    expect(overall).to_contain_text("Down")
    expect(overall).to_contain_text(f"{len(TROUBLED)} providers need attention of {len(STATES)} providers")
    expect(overall).to_contain_text("at 6 providers, and left out 1 for want of time")
    expect(overall).to_contain_text("Nobody has looked lately")
    expect(overall).to_contain_text("circuits of customers' searches, which keys rest")
    expect(rows.filter(has_text="Source 3")).to_contain_text("Agents: Open")
    expect(rows.filter(has_text="Source 3")).to_contain_text("Customers: not known")
    expect(page.get_by_role("table", name="Pools")).to_contain_text("950 of 1000 · 1 unknown")
    flawless(page, axe, screenshots, "health")


def test_one_providers_history_is_told(stage: ConsoleStage, axe: Axe, screenshots: Keep) -> None:
    path = f"{HEALTH}/{ID}"
    history = happening("circuit_opened", code="connection_failed"), happening("state_changed", lane=None)
    stage.lay("GET", path, health_of_one(one_health("down"), *history))
    page = stage.sign_in(f"#/health/{ID}")
    table = page.get_by_role("table", name="What has changed")
    expect(table).to_contain_text("Failed three times in a row")
    expect(table).to_contain_text("connection_failed")
    flawless(page, axe, screenshots, "health-one")

    stage.lay("GET", path, health_of_one(one_health("healthy")))
    page.get_by_role("button", name="Refresh", exact=True).click()
    expect(page.get_by_text("Nothing has changed in 30 days")).to_be_visible()
    expect(page.get_by_text("It can do other things than are registered.")).to_be_visible()


def test_nothing_registered_is_no_table(stage: ConsoleStage, axe: Axe, screenshots: Keep) -> None:
    stage.lay("GET", HEALTH, health(status="healthy", pools=[], run=None, checkedAt=None))
    page = stage.sign_in()
    expect(page.get_by_text("No provider is registered")).to_be_visible()
    expect(page.get_by_text("The probe has not looked yet.")).to_be_visible()
    flawless(page, axe, screenshots, "health-empty")


def test_health_is_read_again_by_itself_while_it_is_in_sight_and_wanted(stage: ConsoleStage) -> None:
    stage.page.clock.install()
    stage.lay("GET", HEALTH, health(one_health()))
    page = stage.sign_in()
    expect(page.get_by_role("table", name="Providers")).to_be_visible()
    stage.lay("GET", HEALTH, health(one_health("refused")))
    page.clock.run_for(31_000)
    expect(page.get_by_role("cell", name="Refused since")).to_be_visible()
    stage.settle()

    seen = len(stage.calls("GET", HEALTH))
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    page.clock.run_for(120_000)
    assert len(stage.calls("GET", HEALTH)) == seen
    with page.expect_request(f"**/{HEALTH}"):  # back in sight it is read at once
        page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    stage.settle()

    page.get_by_role("button", name="Auto-refresh").click()
    seen = len(stage.calls("GET", HEALTH))
    page.clock.run_for(120_000)
    assert len(stage.calls("GET", HEALTH)) == seen
