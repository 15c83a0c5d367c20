"""Pools and the audit at the console."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.console_asked_told import HOSTILE, allowance, audit_entry, pool
from tests.browser.console_keyboard import button
from tests.browser.console_stage import Axe, ConsoleStage, Keep, console_stage, flawless
from tests.browser.site import Site

pytestmark = [pytest.mark.emulator]

POOLS = "knowledge/pools"
ALLOWANCES = "knowledge/allowances"
AUDIT = "audit"


@pytest.fixture
def stage(open_page: OpenPage, site: Site) -> ConsoleStage:
    stage = console_stage(open_page, site)
    keyless = {"pool": "mintlify", "takesKeys": False, "configured": 0, "usable": 0, "resting": 0, "keys": []}
    empty = {"pool": "context7", "configured": 0, "usable": 0, "resting": 0, "keys": [], "unusable": []}
    asleep = pool(**keyless, unusable=[], readyAgainAt="2026-09-21T15:00:00Z")
    stage.lay("GET", POOLS, {"pools": [pool(), asleep, pool(**empty)]})
    closed = allowance(pool="context7", state="closed", limit=0, unknown=0, unknownShare=0)
    stage.lay("GET", ALLOWANCES, {"allowances": [allowance(), closed]})
    return stage


def sent(stage: ConsoleStage, method: str, path: str) -> list[Any]:
    return [one.post_data_json for one in stage.calls(method, path)]


def test_keys_rest_and_wake_after_a_question(stage: ConsoleStage, axe: Axe, screenshots: Keep) -> None:
    page = stage.sign_in("#/pools")
    exa = page.get_by_role("region").or_(page.locator("section")).filter(has_text="EXA_API_KEY_1").first
    expect(exa).to_contain_text("its quota is spent")
    expect(exa).to_contain_text("EXA_API_KEY_7")
    expect(page.get_by_text("It takes no keys.")).to_be_visible()
    expect(page.get_by_text("It has no key")).to_be_visible()
    expect(page.get_by_text("An allowance counts operations, not money")).to_be_visible()
    flawless(page, axe, screenshots, "pools")

    button(page, "Rest EXA_API_KEY_1").click()
    expect(page.get_by_text("It is the last key that does not rest")).to_be_visible()
    page.get_by_label("For", exact=True).select_option("86400")
    stage.refuse("POST", f"{POOLS}/exa/rest", 429, "rate_limited", Retry_After="9")
    button(page, "Let it rest").click()
    expect(page.get_by_role("alert")).to_contain_text("Try again in 9 s.")
    stage.lay("POST", f"{POOLS}/exa/rest", pool(resting=2, usable=0, readyAgainAt="2026-09-21T15:00:00Z"))
    button(page, "Let it rest").click()
    expect(exa).to_contain_text("Nothing is sent until")
    assert sent(stage, "POST", f"{POOLS}/exa/rest") == [{"key": "EXA_API_KEY_1", "seconds": 86_400}] * 2

    stage.lay("POST", f"{POOLS}/exa/wake", pool())
    button(page, "Wake all keys: Exa").click()
    button(page, "Wake").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    awake = [one | {"state": "ready", "restingUntil": None, "reason": None} for one in pool()["keys"]]
    stage.lay("POST", f"{POOLS}/exa/wake", pool(keys=awake, resting=0, usable=2))
    button(page, "Wake EXA_API_KEY").click()
    button(page, "Wake").click()
    expect(button(page, "Rest EXA_API_KEY")).to_be_focused()  # it stands where the key's other button was
    assert sent(stage, "POST", f"{POOLS}/exa/wake") == [{"key": None}, {"key": "EXA_API_KEY"}]


def test_an_allowance_is_changed_and_unknown_operations_are_reviewed(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    page = stage.sign_in("#/pools")
    expect(page.get_by_text("Unknown operations ask for a review")).to_be_visible()
    button(page, "Allowance of Exa").click()
    page.get_by_label("Operations in 24 hours").fill("20")
    page.get_by_label("Happened", exact=True).fill("2")
    page.get_by_label("Did not happen").fill("1")
    flawless(page, axe, screenshots, "pools-allowance")
    stage.refuse("PUT", f"{ALLOWANCES}/exa", 412, "precondition_failed")
    button(page, "Save").click()
    stage.lay("GET", f"{ALLOWANCES}/exa", allowance(generation=5))
    button(page, "Read it again").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    stage.refuse("PUT", f"{ALLOWANCES}/exa", 409, "nothing_unknown")
    button(page, "Save").click()
    expect(page.get_by_role("alert")).to_contain_text("nothing_unknown")
    stage.lay("PUT", f"{ALLOWANCES}/exa", allowance(limit=20, unknown=0, unknownShare=0, generation=6))
    button(page, "Save").click()
    expect(page.get_by_text("6 of 20 operations")).to_be_visible()
    expect(page.get_by_text("Unknown operations ask for a review")).to_have_count(0)

    calls = stage.calls("PUT", f"{ALLOWANCES}/exa")
    assert [one.headers["if-match"] for one in calls] == ['"4"', '"5"', '"5"']
    assert calls[-1].post_data_json == {"limit": 20, "review": {"happened": 2, "didNotHappen": 1}}


def test_the_audit_is_read_page_by_page_and_filtered_as_far_as_it_is_read(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    made = audit_entry(
        1,
        action="credential.created",
        resource="credential/abc",
        before={},
        after={"origins": list(HOSTILE), "status": "active"},
        generationBefore=None,
    )
    stage.lay("GET", AUDIT, {"entries": [audit_entry(), made], "nextCursor": "further"})
    page = stage.sign_in("#/audit")
    expect(page.get_by_text(", ".join(HOSTILE))).to_be_visible()
    row = page.get_by_role("row").filter(has_text="provider.updated")
    expect(row.locator("del")).to_contain_text("disabled")
    expect(row.locator("ins")).to_contain_text("active")
    expect(row).to_contain_text("version 1 → 2")
    assert [one.get_attribute("href") for one in row.get_by_role("link").all()] == [
        "#/providers/cs_k3j5mq2x7a4bwz6t",
        "#/credentials/k3j5mq2x7a4bwz6t",
    ]
    flawless(page, axe, screenshots, "audit")

    page.get_by_label("Action").select_option("credential.created")
    expect(page.get_by_text("1 of 2 entries read so far.")).to_contain_text("does not search its audit")
    page.get_by_label("Find").fill("nobody")
    expect(page.get_by_text("None of the entries read so far fits")).to_be_visible()
    page.get_by_label("Find").fill("")
    stage.break_line("GET", AUDIT)
    button(page, "Read earlier entries").click()
    expect(page.get_by_role("alert")).to_contain_text("offline")
    stage.lay("GET", AUDIT, {"entries": [audit_entry(2), made | {"id": "earliest"}], "nextCursor": None})
    button(page, "Try again").click()
    expect(page.get_by_text(re.compile("^2 of 4 entries$"))).to_be_visible()
    expect(button(page, "Read earlier entries")).to_have_count(0)
    assert "cursor=further" in stage.calls("GET", AUDIT)[-1].url
    stage.watched.forget()  # the browser itself notes a line that was cut
