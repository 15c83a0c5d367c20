"""Credentials at the console: issued, shown once, changed, revoked; and what a refusal says."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.console_asked_told import CREDENTIALS, HOSTILE, credential
from tests.browser.console_keyboard import button, enter, follow, sign_in, tab_to, type_into
from tests.browser.console_stage import PROVIDERS, Axe, ConsoleStage, Keep, console_stage, flawless
from tests.browser.console_told import contract
from tests.browser.site import Site
from tests.e2e.running import WIDGET_SEARCH, Gateway, call

pytestmark = [pytest.mark.emulator]

ORIGIN = "https://help.example.com"
ROOT = {"id": "root", "name": "Root", "secretFingerprint": None, "createdAt": None, "updatedAt": None}
ONE = f"{CREDENTIALS}/k3j5mq2x7a4bwz6t"


@pytest.fixture
def stage(open_page: OpenPage, site: Site) -> ConsoleStage:
    stage = console_stage(open_page, site)
    listed = [
        credential("adm", **ROOT),
        credential(name=HOSTILE[0], expiresAt="2026-01-01T00:00:00Z"),
        credential("ast", id="b" * 16, name="Assistant", grants=["knowledge:read_public"]),
        credential("pub", id="c" * 16, name="Help site", status="disabled"),
    ]
    stage.lay("GET", CREDENTIALS, {"credentials": listed, "nextCursor": None})
    stage.lay("GET", PROVIDERS, {"providers": [contract(name=HOSTILE[1])], "nextCursor": None})
    stage.lay("GET", ONE, credential(name="Ticket tool"), ETag='"3"')
    return stage


def begin(page: Page, kind: str) -> None:
    button(page, "Issue a credential").click()
    page.get_by_label(kind).check()
    page.get_by_label("Name", exact=True).fill("Of tests")


def test_a_widgets_key_is_issued_corrected_copied_used_and_revoked_without_a_mouse(
    demo: Gateway, open_page: OpenPage
) -> None:
    page = open_page(demo.console, permissions=["clipboard-read", "clipboard-write"]).page
    demo.as_admin("GET", "/api/v1/audit?limit=1")
    sign_in(page, demo.admin)
    follow(page, "Credentials")
    enter(page, "Issue a credential")
    type_into(page, "Name", "Spare site")
    type_into(page, "Origins", "https://*.example.com")
    enter(page, "Issue")
    origins = page.get_by_label("Origins")
    expect(origins).to_be_focused()
    expect(origins).to_have_accessible_description(re.compile("no wildcards"))
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(ORIGIN)
    enter(page, "Issue")

    token = page.get_by_label("Token", exact=True)
    expect(token).to_have_value(re.compile("^kg_pub_"))
    shown = token.input_value()
    page.keyboard.press("Escape")
    enter(page, "Copy Token")
    expect(page.get_by_role("status").filter(has_text="copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == shown
    tab_to(page, page.get_by_label("I have put it where it belongs"))
    page.keyboard.press("Space")
    enter(page, "Done")
    assert shown not in page.content()
    found = call(demo.url, "POST", WIDGET_SEARCH, {"query": "ferry pass"}, token=shown, Origin=ORIGIN)
    assert found.found["results"]

    follow(page, "Spare site")
    enter(page, "Revoke")
    revoke = page.get_by_role("dialog").get_by_role("button", name="Revoke")
    expect(revoke).to_be_disabled()
    page.keyboard.insert_text("Spare site")
    expect(revoke).to_be_enabled()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Credentials")
    expect(page.get_by_role("link", name="Demo widget")).to_be_visible()
    expect(page.get_by_role("link", name="Spare site")).to_have_count(0)


def test_all_credentials_are_listed_with_what_they_may_do(stage: ConsoleStage, axe: Axe, screenshots: Keep) -> None:
    page = stage.sign_in("#/credentials")
    rows = page.get_by_role("row")
    expect(rows.filter(has_text=HOSTILE[0])).to_contain_text("Expired")
    expect(rows.filter(has_text="Help site")).to_contain_text(ORIGIN)
    expect(rows.filter(has_text="Help site")).to_contain_text("Disabled")
    expect(rows.filter(has_text="Assistant")).to_contain_text("knowledge:read_public")
    flawless(page, axe, screenshots, "credentials")
    page.get_by_label("Class").select_option("pub")
    expect(page.get_by_text("1 of 4 credentials")).to_be_visible()
    page.get_by_label("Find").fill("nobody")
    expect(page.get_by_text("No credential fits")).to_be_visible()


def test_an_origin_that_is_none_is_refused_with_the_reason(stage: ConsoleStage) -> None:
    page = stage.sign_in("#/credentials")
    begin(page, "Website (pub)")
    for origin, words in (
        ("null", "every sandboxed frame"),
        ("*", "no wildcards"),
        ("help.example.com", "begin with https://"),
        ("https://help.example.com/", "without a path and without a slash"),
        ("http://help.example.com", "only https"),
        ("https://me@help.example.com", "no user name"),
        ("", "Name at least one origin"),
    ):
        page.get_by_label("Origins").fill(origin)
        button(page, "Issue").click()
        expect(page.get_by_label("Origins")).to_have_accessible_description(re.compile(words))
    assert stage.calls("POST", CREDENTIALS) == []


def test_each_class_is_asked_for_what_it_has_and_warned_of_what_it_can_do(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    page = stage.sign_in("#/credentials")
    begin(page, "Admin (adm)")
    expect(page.get_by_text("can change and delete everything")).to_be_visible()
    page.get_by_label("Assistant (ast)").check()
    expect(page.get_by_label("It may read public knowledge")).to_be_checked()
    page.get_by_label("Agent (agt)").check()
    grant = page.get_by_label("It may answer Dify applications")
    expect(grant).not_to_be_checked()
    grant.check()
    expect(page.get_by_text("Internal passages may leave with it")).to_be_visible()
    page.get_by_label("only the providers that I choose").check()
    page.get_by_label(HOSTILE[1]).check()
    page.get_by_label("Ends").fill("2030-01-01T00:00")
    flawless(page, axe, screenshots, "credentials-issue")

    stage.refuse("POST", CREDENTIALS, 409, "grant_refused")
    button(page, "Issue").click()
    expect(page.get_by_role("alert")).to_contain_text("grant_refused")
    stage.refuse(
        "POST", CREDENTIALS, 422, "invalid_request", errors=[{"pointer": "/name", "detail": "One line, please."}]
    )
    button(page, "Issue").click()
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    expect(page.get_by_label("Name", exact=True)).to_have_accessible_description(re.compile("One line, please."))
    stage.refuse("POST", CREDENTIALS, 503, "store_unavailable", Retry_After="3")
    button(page, "Issue").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was changed. Try again in 3 s.")
    made = credential(name=HOSTILE[0]) | {"token": None, "warnings": ["secret_already_shown"]}
    stage.lay("POST", CREDENTIALS, made, status=201)
    button(page, "Issue").click()
    expect(page.get_by_text("The token was shown already")).to_be_visible()

    sent = stage.calls("POST", CREDENTIALS)
    body: dict[str, Any] = sent[-1].post_data_json or {}
    assert body["expiresAt"].startswith(("2029-12-31T", "2030-01-01T"))
    assert body | {"expiresAt": None} == {
        "class": "agt",
        "name": "Of tests",
        "grants": ["external_knowledge:agent"],
        "allowedProviders": [contract()["id"]],
        "expiresAt": None,
    }
    keys = [one.headers["idempotency-key"] for one in sent]
    assert keys[2] == keys[3]
    assert len(set(keys)) == 3


def test_a_change_is_bound_to_what_was_read_and_says_only_what_differs(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    page = stage.sign_in(f"#/{ONE}")
    flawless(page, axe, screenshots, "credential")
    button(page, "Edit").click()
    page.get_by_label("Requests a minute").fill("90")
    stage.refuse("PATCH", ONE, 412, "precondition_failed")
    button(page, "Save").click()
    stage.lay("GET", ONE, credential(name=HOSTILE[0], generation=4), ETag='"4"')
    button(page, "Read it again").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value(HOSTILE[0])
    page.get_by_label("Requests a minute").fill("90")
    stage.lay("PATCH", ONE, credential(name=HOSTILE[0], ratePerMinute=90, generation=5), ETag='"5"')
    button(page, "Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert [(one.headers["if-match"], one.post_data_json) for one in stage.calls("PATCH", ONE)] == [
        ('"3"', {"ratePerMinute": 90}),
        ('"4"', {"ratePerMinute": 90}),
    ]

    rotated = credential(generation=6) | {"token": "kg_agt_new", "warnings": []}
    stage.lay("POST", f"{ONE}/rotate", rotated, ETag='"6"')
    button(page, "Rotate").click()
    expect(page.get_by_text("stops working at once")).to_be_visible()
    button(page, "Rotate now").click()
    expect(page.get_by_label("Token", exact=True)).to_have_value("kg_agt_new")
    assert stage.calls("POST", f"{ONE}/rotate")[0].headers["if-match"] == '"5"'


def test_root_can_only_be_switched_and_is_told_what_that_takes(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    stage.lay("GET", f"{CREDENTIALS}/root", credential("adm", **ROOT), ETag='"1"')
    stage.refuse("PATCH", f"{CREDENTIALS}/root", 409, "last_admin")
    page = stage.sign_in("#/credentials/root")
    expect(page.get_by_text("another admin credential exists that is active and never ends")).to_be_visible()
    for name in ("Edit", "Rotate", "Revoke"):
        expect(button(page, name)).to_have_count(0)
    button(page, "Switch off").click()
    page.get_by_role("dialog").get_by_role("button", name="Switch off").click()
    expect(page.get_by_role("alert")).to_contain_text("Make another admin credential first.")
    flawless(page, axe, screenshots, "credential-root")
