"""What must not be lost at the console: a secret that is being made or shown once; deletions of what has changed."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import OpenPage
from tests.browser.console_asked_told import CREDENTIALS, credential
from tests.browser.console_keyboard import button
from tests.browser.console_stage import PROVIDERS, ConsoleStage, console_stage
from tests.browser.console_told import ID, contract
from tests.browser.site import Site

pytestmark = [pytest.mark.emulator]

OF_CREDENTIAL = f"{CREDENTIALS}/k3j5mq2x7a4bwz6t"
OF_PROVIDER = f"{PROVIDERS}/{ID}"
TOKEN = credential(generation=4) | {"token": "kg_agt_new", "warnings": []}
SECRET = contract(generation=3) | {"secret": "0f" * 32, "warnings": []}


@pytest.fixture
def stage(open_page: OpenPage, site: Site) -> ConsoleStage:
    stage = console_stage(open_page, site)
    stage.lay("GET", CREDENTIALS, {"credentials": [credential()], "nextCursor": None})
    stage.lay("GET", OF_CREDENTIAL, credential(), ETag='"3"')
    stage.lay("GET", f"{CREDENTIALS}/other", credential(id="other", name="Other tool"), ETag='"1"')
    stage.lay("GET", PROVIDERS, {"providers": [contract()], "nextCursor": None})
    stage.lay("GET", OF_PROVIDER, contract(), ETag='"2"')
    return stage


def try_to_leave(page: Page) -> None:
    """With the keyboard, with the browser's Back, and by another address."""
    dialog = page.get_by_role("dialog")
    page.keyboard.press("Escape")
    expect(dialog.get_by_role("button", name="Close")).to_have_count(0)
    said = dialog.get_by_text("First finish here")
    for way in ("history.back()", "location.hash = '#/audit'"):
        page.evaluate(way)
        expect(said).to_be_visible()
        dialog.get_by_role("button", name="Dismiss").click()
        expect(said).to_have_count(0)


def test_no_secret_is_lost_while_it_is_made_or_until_it_is_kept(stage: ConsoleStage) -> None:
    page = stage.sign_in("#/audit")
    for route, opener, name, action, path, answer in (
        ("#/credentials", "Issue a credential", "Tool", "Issue", CREDENTIALS, TOKEN),
        (f"#/{OF_CREDENTIAL}", "Rotate", "", "Rotate now", f"{OF_CREDENTIAL}/rotate", TOKEN),
        ("#/providers", "Register a provider", "Help centre", "Register", PROVIDERS, SECRET),
        (f"#/providers/{ID}", "Rotate secret", "", "Rotate", f"{OF_PROVIDER}/rotate-secret", SECRET),
    ):
        waiting: list[Route] = []
        page.route(f"**/api/v1/{path}", waits_for_its_answer(waiting), times=9)
        stage.go_to(route)
        button(page, opener).click()
        dialog = page.get_by_role("dialog")
        if name:
            dialog.get_by_label("Name", exact=True).fill(name)
        if opener == "Issue a credential":
            page.get_by_label("Admin (adm)").check()
        button(page, action).click()
        expect(dialog.get_by_role("button", name="Cancel")).to_be_disabled()
        stage.wait_for(waiting)
        try_to_leave(page)
        assert len(waiting) == 1
        waiting[0].fulfill(status=201, json=answer)
        secret = dialog.locator(".copyable input")
        expect(secret).to_have_value(str(answer.get("token") or answer["secret"]))
        try_to_leave(page)
        expect(button(page, "Done")).to_be_disabled()
        dialog.get_by_label("I have put it where it belongs").check()
        button(page, "Done").click()
        expect(dialog).to_have_count(0)
        page.unroute(f"**/api/v1/{path}")


def waits_for_its_answer(waiting: list[Route], method: str = "POST") -> Any:
    def handle(route: Route) -> None:
        if route.request.method == method:
            waiting.append(route)
        else:
            route.fallback()

    return handle


def test_a_deletion_is_held_too_and_read_again_where_others_were_faster(stage: ConsoleStage) -> None:
    page = stage.sign_in(f"#/{OF_PROVIDER.removeprefix('knowledge/')}")
    button(page, "Turn off").press("Enter")  # is refused: nothing is laid for it
    expect(page.get_by_role("alert")).to_contain_text("not_found")
    stage.lay("PATCH", OF_PROVIDER, contract(status="disabled", generation=3), ETag='"3"')
    button(page, "Turn off").press("Enter")
    expect(button(page, "Turn on")).to_be_focused()

    stage.refuse("DELETE", OF_PROVIDER, 412, "precondition_failed")
    button(page, "Delete").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("Help centre")
    dialog.get_by_role("button", name="Delete").click()
    stage.lay("GET", OF_PROVIDER, contract(generation=9), ETag='"9"')
    dialog.get_by_role("button", name="Read it again").click()
    expect(dialog.get_by_role("alert")).to_have_count(0)
    waiting: list[Route] = []
    page.route(f"**/api/v1/{OF_PROVIDER}", waits_for_its_answer(waiting, "DELETE"))
    dialog.get_by_role("button", name="Delete").click()
    expect(dialog.get_by_role("button", name="Cancel")).to_be_disabled()
    page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    stage.wait_for(waiting)
    assert waiting[0].request.headers["if-match"] == '"9"'
    waiting[0].fulfill(status=204)
    expect(page.get_by_role("heading", level=1)).to_have_text("Providers")


def test_one_wish_has_one_key_and_a_dialog_belongs_to_what_it_was_opened_for(stage: ConsoleStage) -> None:
    page = stage.sign_in("#/credentials")
    button(page, "Issue a credential").click()
    page.get_by_label("Admin (adm)").check()
    page.get_by_label("Name", exact=True).fill("One")
    page.get_by_label("Requests a minute").fill("5e")
    stage.refuse("POST", CREDENTIALS, 503, "store_unavailable")
    button(page, "Issue").click()
    expect(page.get_by_role("alert")).to_contain_text("store_unavailable")
    page.get_by_label("Name", exact=True).fill("Two")
    stage.refuse("POST", CREDENTIALS, 409, "idempotency_key_used")
    button(page, "Issue").click()
    expect(page.get_by_role("alert")).to_contain_text("idempotency_key_used")
    stage.lay("POST", CREDENTIALS, [], status=409)  # something in between
    button(page, "Issue").click()
    expect(page.get_by_role("alert")).to_contain_text("A change may have been made all the same")
    stage.lay("POST", CREDENTIALS, TOKEN | {"token": None}, status=201)
    button(page, "Issue").click()
    expect(page.get_by_text("The token was shown already")).to_be_visible()
    sent = stage.calls("POST", CREDENTIALS)
    first, *others = [one.headers["idempotency-key"] for one in sent]
    assert [key == first for key in others] == [False] * 3
    assert len(set(others)) == 1
    assert (sent[0].post_data_json or {})["ratePerMinute"] == "5e"

    button(page, "Close").last.click()
    stage.go_to(f"#/{OF_CREDENTIAL}")
    button(page, "Edit").click()
    stage.go_to(f"#/{CREDENTIALS}/other")
    expect(page.get_by_role("heading", level=1)).to_have_text("Other tool")
    expect(page.get_by_role("dialog")).to_have_count(0)
