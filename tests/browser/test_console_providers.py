"""The console's providers: finding, making, changing, testing, rotating and deleting one; refusals; hostile texts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.console_stage import (
    HEALTH,
    PROVIDERS,
    Axe,
    ConsoleStage,
    Keep,
    console_stage,
    flawless,
    problem,
)
from tests.browser.console_told import ID, contract, health, one_health, passage, report
from tests.browser.site import Site

pytestmark = [pytest.mark.emulator]

ONE = f"{PROVIDERS}/{ID}"
SECRET = "0f" * 32
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "<script>document.body.remove()</script>",
    '"><svg onload=alert(1)>',
    "{{constructor.constructor('alert(1)')()}}",
    "\u202ereversed\u202c &lt;b&gt;",
    "x" * 120,
)
NO_LINKS = (
    "javascript:alert(1)",
    "java\tscript:alert(1)",
    "\u0001javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "//evil.example/x",
    "https://user:pw@ok.example/",
    "vbscript:x",
)
MADE_UP = "main :is(img, script, svg, iframe, object, b, math), dialog :is(img, script, svg, iframe, object, b, math)"


@pytest.fixture
def stage(open_page: OpenPage, site: Site) -> ConsoleStage:
    stage = console_stage(open_page, site)
    stage.lay("GET", PROVIDERS, {"providers": [contract()], "nextCursor": None})
    stage.lay("GET", ONE, contract(), ETag='"2"')
    return stage


def dialog_of(page: Page) -> Locator:
    return page.get_by_role("dialog")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def body_of(stage: ConsoleStage, method: str, path: str) -> Any:
    return stage.calls(method, path)[-1].post_data_json


def test_all_pages_of_the_list_are_read_and_filtered(stage: ConsoleStage, axe: Axe, screenshots: Keep) -> None:
    exa: dict[str, Any] = {"name": "Live", "kind": "exa", "id": "ao_k3j5mq2x7a4bwz6t", "exposureProfile": "agent_only"}
    exa |= {"config": {"approvedHosts": ["docs.example.com"]}, "status": "auto_disabled", "needsTest": True}
    private = contract(id="cs_k3j5mq2x7a4bwz6b", name="Office", allowPrivateNetwork=True, status="disabled")
    page = stage.page

    def pages(route: Any) -> None:
        later = "cursor=next" in route.request.url
        shown = [contract() | exa, private] if later else [contract()]
        route.fulfill(json={"providers": shown, "nextCursor": None if later else "next"})

    page.route(f"**/{PROVIDERS}?limit=100*", pages)
    stage.sign_in("#/providers")
    rows = page.get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.filter(has_text="Office")).to_contain_text("Private network")
    flawless(page, axe, screenshots, "providers")

    page.get_by_label("Exposure").select_option("agent_only")
    expect(rows).to_have_count(2)
    expect(page.get_by_text("1 of 3 providers")).to_be_visible()
    page.get_by_label("Exposure").select_option("")
    page.get_by_label("Find").fill("OFFICE")
    expect(rows).to_have_count(2)
    page.get_by_label("Find").fill("nobody")
    expect(page.get_by_text("No provider fits")).to_be_visible()


def test_a_contract_provider_is_registered_under_one_key_and_its_secret_shown_once(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    page = stage.sign_in("#/providers")
    press(page, "Register a provider")
    dialog = dialog_of(page)
    expect(dialog.get_by_label("Kind")).to_be_focused()
    flawless(page, axe, screenshots, "provider-create")
    wrong = [{"pointer": "/baseUrl", "detail": "The URL must begin with https://."}]
    stage.refuse("POST", PROVIDERS, 422, "invalid_base_url", errors=wrong)
    dialog.get_by_label("Name").fill("Help centre")
    dialog.get_by_label("Base URL").fill("http://kb.example.com")
    dialog.get_by_label("customer_safe").check()
    dialog.get_by_label("Locale", exact=True).check()
    press(page, "Register")
    field = dialog.get_by_label("Base URL")
    expect(field).to_be_focused()
    expect(dialog.locator(".field-error")).to_have_text(wrong[0]["detail"])
    flawless(page, axe, screenshots, "provider-create-refused")

    field.fill("https://kb.example.com/v1")
    stage.break_line("POST", PROVIDERS)
    press(page, "Register")
    expect(dialog).to_contain_text("offline")
    stage.watched.forget()
    made = contract(needsTest=True, status="disabled")
    stage.lay("POST", PROVIDERS, made | {"secret": SECRET, "warnings": []}, status=201)
    stage.lay("GET", ONE, made, ETag='"1"')
    press(page, "Register")
    expect(dialog.get_by_label("Signing secret", exact=True)).to_have_value(SECRET)
    flawless(page, axe, screenshots, "provider-secret")

    first, second, third = stage.calls("POST", PROVIDERS)
    assert second.headers["idempotency-key"] == third.headers["idempotency-key"] != first.headers["idempotency-key"]
    assert third.post_data_json == {
        "kind": "contract",
        "name": "Help centre",
        "exposureProfile": "customer_safe",
        "baseUrl": "https://kb.example.com/v1",
        "allowPrivateNetwork": False,
        "sendConversationId": False,
        "priority": 100,
        "capabilities": contract()["capabilities"],
    }
    page.keyboard.press("Escape")  # a secret does not go by mistake
    expect(dialog).to_be_visible()
    dialog.get_by_label("I have put it where it belongs").check()
    press(page, "Done")
    expect(page.get_by_role("heading", level=1)).to_have_text("Help centre")
    expect(page.get_by_text("It has to pass a test")).to_be_visible()
    assert SECRET not in page.content()


def test_live_and_external_kinds_ask_for_what_they_need(stage: ConsoleStage, axe: Axe, screenshots: Keep) -> None:
    page = stage.sign_in("#/providers")
    press(page, "Register a provider")
    dialog = dialog_of(page)
    dialog.get_by_label("Name").fill("Documentation")
    stage.refuse("POST", PROVIDERS, 409, "provider_limit_reached")
    for kind, config in (
        ("exa", {"approvedHosts": ["docs.example.com", "x.example.com"], "searchType": "fast", "results": 5}),
        ("mintlify", {"approvedHosts": ["docs.example.com", "x.example.com"], "endpoint": "mcp", "tokenBudget": 3000}),
        ("firecrawl", {"approvedHosts": ["docs.example.com", "x.example.com"]}),
        ("context7", {"approvedHosts": ["docs.example.com", "x.example.com"]}),
        ("deepwiki", {"repositories": ["docs.example.com", "x.example.com"]}),
    ):
        dialog.get_by_label("Kind").select_option(kind)
        dialog.locator("textarea").fill("docs.example.com\n x.example.com\n")
        press(page, "Register")
        expect(page.get_by_role("alert")).to_contain_text("provider_limit_reached")
        sent = body_of(stage, "POST", PROVIDERS)
        assert sent["exposureProfile"] == "agent_only"
        assert sent["config"].items() >= config.items()

    dialog.get_by_label("Kind").select_option("dify_external")
    dialog.get_by_label("Base URL").fill("http://dify.example.com/v1")
    dialog.get_by_label("Knowledge id").fill("galley")
    dialog.get_by_label("API key").fill("key-of-the-server")
    dialog.get_by_label("Test query").fill("night ferry")
    asked = {"baseUrl": "http://dify.example.com/v1", "risks": ["plain_http"]}
    stage.refuse("POST", PROVIDERS, 409, "risk_not_acknowledged", **asked)
    press(page, "Test and register")
    expect(dialog).to_contain_text("There is no TLS")
    flawless(page, axe, screenshots, "provider-external")
    dialog.get_by_label("I accept that for").check()
    stage.refuse("POST", PROVIDERS, 409, "test_failed", outcome="unauthorized", explanation="Replace the credential.")
    press(page, "Test and register")
    expect(dialog).to_contain_text("Replace the credential.")
    sent = body_of(stage, "POST", PROVIDERS)
    assert sent["credential"] == {"action": "replace", "value": "key-of-the-server"}
    assert sent["acknowledge"] == {"url": asked["baseUrl"], "risks": asked["risks"]}


def test_a_change_sends_what_differs_and_a_stale_one_is_explained_and_read_again(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    page = stage.sign_in(f"#/providers/{ID}")
    press(page, "Change")
    dialog = dialog_of(page)
    dialog.get_by_label("Priority").fill("50")
    stage.refuse("PATCH", ONE, 412, "precondition_failed")
    stage.lay("GET", ONE, contract(name="Help desk", generation=3), ETag='"3"')
    press(page, "Save")
    expect(dialog).to_contain_text("Somebody changed it after you had read it.")
    flawless(page, axe, screenshots, "provider-stale")
    assert body_of(stage, "PATCH", ONE) == {"priority": 50}
    assert stage.calls("PATCH", ONE)[-1].headers["if-match"] == '"2"'

    press(page, "Read it again")
    expect(dialog.get_by_label("Name")).to_have_value("Help desk")
    dialog.get_by_label("Module").fill("billing")
    stage.lay("PATCH", ONE, contract(name="Help desk", module="billing", generation=4), ETag='"4"')
    press(page, "Save")
    expect(dialog).to_have_count(0)
    assert body_of(stage, "PATCH", ONE) == {"module": "billing"}
    assert stage.calls("PATCH", ONE)[-1].headers["if-match"] == '"3"'
    expect(page.get_by_role("button", name="Change")).to_be_focused()

    stage.refuse("PATCH", ONE, 428, "precondition_required")
    press(page, "Turn off")
    expect(page.get_by_role("alert")).to_contain_text("precondition_required")
    assert stage.calls("PATCH", ONE)[-1].headers["if-match"] == '"4"'


def test_a_rotation_inside_an_open_window_has_to_be_meant(stage: ConsoleStage, axe: Axe, screenshots: Keep) -> None:
    rotation = {"previousFingerprint": "a86294b858a771f6", "until": "2026-09-22T14:13:20Z"}
    stage.lay("GET", ONE, contract(rotation=rotation), ETag='"2"')
    page = stage.sign_in(f"#/providers/{ID}")
    press(page, "Rotate secret")
    dialog = dialog_of(page)
    expect(dialog).to_contain_text("A window is still open")
    stage.refuse("POST", f"{ONE}/rotate-secret", 409, "rotation_pending")
    press(page, "Rotate")
    expect(dialog.get_by_role("alert")).to_contain_text("rotation_pending")
    flawless(page, axe, screenshots, "provider-rotate")
    dialog.get_by_label("Rotate all the same").check()
    dialog.get_by_label("Both secrets sign for").select_option("72")
    shown = contract(rotation=rotation) | {"secret": None, "warnings": ["secret_already_shown"]}
    stage.lay("POST", f"{ONE}/rotate-secret", shown, ETag='"3"')
    press(page, "Rotate")
    expect(dialog).to_contain_text("The secret was shown already")
    assert body_of(stage, "POST", f"{ONE}/rotate-secret") == {"windowHours": 72, "replacePending": True}


def test_a_test_shows_what_came_back_and_what_would_be_dropped(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    page = stage.sign_in(f"#/providers/{ID}")
    stage.lay("POST", f"{ONE}/test", report(passage(), passage(audience="internal", url=None)), ETag='"2"')
    page.get_by_label("Query").fill("ferry")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 passages in 6 ms")).to_be_visible()
    expect(page.get_by_text("1 passage would be dropped")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="Inside")).to_contain_text("internal_dropped")
    flawless(page, axe, screenshots, "provider-tested")

    failed = {
        "status": "failed",
        "errorCode": "timeout",
        "explanation": "It did not answer.",
        "warnings": ["activation_lost"],
    }
    stage.lay("POST", f"{ONE}/test", report(dropped=[], **failed), ETag='"2"')
    press(page, "Test")
    expect(page.get_by_text("It did not answer.")).to_be_visible()
    expect(page.get_by_text("so it was not turned on")).to_be_visible()


def test_a_deletion_takes_the_name_and_a_refused_one_stays_to_be_read(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    page = stage.sign_in(f"#/providers/{ID}")
    press(page, "Delete")
    dialog = dialog_of(page)
    sure = dialog.get_by_role("button", name="Delete")
    expect(sure).to_be_disabled()
    expect(dialog.get_by_role("textbox")).to_be_focused()
    flawless(page, axe, screenshots, "provider-delete")
    stage.refuse("DELETE", ONE, 409, "conflict")
    page.keyboard.type("Help centre")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("conflict")
    stage.lay("DELETE", ONE, status=204)
    stage.lay("GET", PROVIDERS, {"providers": [], "nextCursor": None})
    sure.click()
    expect(page.get_by_text("No provider is registered")).to_be_visible()
    assert stage.calls("DELETE", ONE)[-1].headers["if-match"] == '"2"'


def test_hostile_texts_are_texts(stage: ConsoleStage) -> None:
    page = stage.page
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    named = [
        contract(id=f"cs_k3j5mq2x7a4bwz6{letter}", name=name) for letter, name in zip("abcdef", HOSTILE, strict=True)
    ]
    stage.lay("GET", PROVIDERS, {"providers": named, "nextCursor": None})
    stage.lay("GET", HEALTH, health(*(one_health("down", at=at, name=name) for at, name in enumerate(HOSTILE))))
    stage.lay("GET", ONE, contract(name=HOSTILE[0], baseUrl=HOSTILE[2], module=HOSTILE[1]), ETag='"2"')
    hits = [passage(title=HOSTILE[1], snippet=HOSTILE[0], url=url, chunkId=HOSTILE[2]) for url in NO_LINKS]
    answer = report(
        *hits, status="failed", errorCode="timeout", explanation=HOSTILE[0], provider=contract(name=HOSTILE[0])
    )
    stage.lay("POST", f"{ONE}/test", answer, ETag='"2"')
    stage.lay("PATCH", ONE, problem(409, HOSTILE[0], title=HOSTILE[1], detail=HOSTILE[2]), status=409)

    stage.sign_in("#/health")
    for name in HOSTILE:
        expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    page.get_by_role("link", name="Providers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Providers")
    stage.settle()
    for name in HOSTILE:
        expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    stage.go_to(f"#/providers/{ID}")
    page.get_by_label("Query").fill(HOSTILE[0])
    page.keyboard.press("Enter")
    hit = page.locator(".passages li")
    expect(hit).to_have_count(len(NO_LINKS))
    expect(hit.first).to_contain_text(HOSTILE[0])
    assert hit.get_by_role("link").count() == 0
    press(page, "Turn off")
    expect(page.get_by_role("alert")).to_contain_text(HOSTILE[1])
    press(page, "Rotate secret")
    expect(dialog_of(page)).to_contain_text(HOSTILE[0])
    assert page.locator(MADE_UP).count() == 0
