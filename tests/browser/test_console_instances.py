"""The console's instances: registering a server, looking at what is on it, binding, moving and deleting."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.console_keyboard import button, enter, follow, sign_in, tab_to, type_into
from tests.browser.console_servers_told import (
    BOUND,
    INSTANCE,
    REMOTE,
    binding,
    catalog,
    entry,
    instance,
    instance_test,
)
from tests.browser.console_stage import PROVIDERS, Axe, ConsoleStage, Keep, console_stage, flawless
from tests.browser.site import Site
from tests.e2e.running import PROVIDERS as PROVIDERS_PATH
from tests.e2e.running import Gateway

pytestmark = [pytest.mark.emulator]

INSTANCES = "knowledge/instances"
ONE = f"{INSTANCES}/{INSTANCE}"
ENTRY = f"{ONE}/catalog/{quote(REMOTE, safe='')}"
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "<script>document.body.remove()</script>",
    "[x](javascript:alert(1))",
    "\u202ereversed\u202c &lt;b&gt;",
)
MADE_UP = ":is(main, dialog) :is(img, script, svg, iframe, object, b, a[href^='javascript'])"


@pytest.fixture
def stage(open_page: OpenPage, site: Site) -> ConsoleStage:
    """One instance of Dify with one knowledge base."""
    stage = console_stage(open_page, site)
    stage.lay("GET", INSTANCES, {"instances": [instance()], "nextCursor": None})
    stage.lay("GET", ONE, instance(), ETag='"3"')
    stage.lay("GET", f"{ONE}/catalog", catalog(entry()))
    stage.lay("GET", ENTRY, entry())
    stage.lay("POST", f"{ONE}/test", instance_test())
    return stage


def body_of(stage: ConsoleStage, method: str, path: str) -> Any:
    return stage.calls(method, path)[-1].post_data_json


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def test_a_knowledge_base_is_found_bound_tested_and_deleted_without_a_mouse(
    demo: Gateway, open_page: OpenPage, axe: Axe, screenshots: Keep
) -> None:
    page = open_page(demo.console).page
    sign_in(page, demo.local["admin"])
    follow(page, "Instances")
    expect(page.get_by_role("table", name="Instances")).to_contain_text("RAGFlow")
    follow(page, "FastGPT")
    expect(page.get_by_text("Bound as FastGPT")).to_be_visible()
    follow(page, "Quays")
    expect(page.get_by_role("navigation", name="Folders")).to_contain_text("Quays")
    expect(page.get_by_role("group", name="What is on it")).to_be_focused()
    follow(page, "Bind Harbour notes")
    heading(page, "Bind a knowledge base")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Harbour notes")
    flawless(page, axe, screenshots, "bind")

    type_into(page, "Test query", "when does the north quay close")
    page.keyboard.press("Enter")
    heading(page, "Harbour notes is bound")
    expect(page.get_by_text("passages in").or_(page.get_by_text("1 passage in"))).to_be_visible()
    flawless(page, axe, screenshots, "bound")
    follow(page, "Change how it is asked")
    heading(page, "Harbour notes")
    bound = page.url.rpartition("/")[2]
    assert demo.as_admin("GET", f"{PROVIDERS_PATH}/{bound}").found["status"] == "active"

    tab_to(page, page.get_by_label("Search mode"))
    page.keyboard.press("ArrowDown")
    type_into(page, "Test query", "north quay")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    assert demo.as_admin("GET", f"{PROVIDERS_PATH}/{bound}").found["config"]["searchMode"] == "fullTextRecall"
    enter(page, "Restore defaults")
    expect(page.get_by_role("dialog").get_by_label("Test query")).to_be_focused()
    page.keyboard.insert_text("north quay")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Search mode")).to_have_value("embedding")
    flawless(page, axe, screenshots, "binding")

    type_into(page, "Query", "north quay")
    page.keyboard.press("Enter")
    expect(page.locator(".report")).to_contain_text("passage")
    enter(page, "Delete")
    expect(page.get_by_label("Type “Harbour notes” to confirm")).to_be_focused()
    page.keyboard.insert_text("Harbour notes")
    page.keyboard.press("Enter")
    heading(page, "FastGPT")
    expect(page.get_by_role("tab", name="Bound (1)")).to_have_attribute("aria-selected", "true")
    assert demo.as_admin("GET", f"{PROVIDERS_PATH}/{bound}").status == 404


def test_a_server_is_registered_with_its_risks_accepted_and_deleted(
    demo: Gateway, open_page: OpenPage, axe: Axe, screenshots: Keep
) -> None:
    page = open_page(f"{demo.console}#/instances").page
    sign_in(page, demo.local["admin"], "Instances")
    flawless(page, axe, screenshots, "instances")
    button(page, "Register a server").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Far server")
    dialog.get_by_label("customer_safe").check()
    dialog.get_by_label("Base URL").fill("http://8.8.8.8:8080")
    dialog.get_by_label("Credential (optional)").fill("dataset-of-far-server-0001")
    button(page, "Register").click()
    statement = dialog.get_by_label("This credential reaches public content and nothing else")
    expect(statement).to_have_attribute("aria-invalid", "true")
    expect(statement).to_be_focused()
    flawless(page, axe, screenshots, "instance-refused")
    statement.check()
    button(page, "Register").click()
    expect(dialog.get_by_text("There is no TLS")).to_be_visible()
    flawless(page, axe, screenshots, "instance-risk")
    dialog.get_by_label("I accept that for http://8.8.8.8:8080/v1").check()
    button(page, "Register").click()
    heading(page, "Far server")
    expect(page.get_by_text("Plain http")).to_be_visible()
    made = page.url.rpartition("/")[2]
    shown = demo.as_admin("GET", f"/api/v1/{INSTANCES}/{made}").found
    assert shown["acknowledged"] == ["plain_http"]
    assert shown["credentialReachesPublicContentOnly"]
    assert "dataset-of-far-server-0001" not in page.content()

    button(page, "Delete").click()
    dialog.get_by_role("textbox").fill("Far server")
    dialog.get_by_role("button", name="Delete").click()
    heading(page, "Instances")
    assert demo.as_admin("GET", f"/api/v1/{INSTANCES}/{made}").status == 404


def test_a_move_is_explained_before_it_is_sent_and_takes_a_new_credential(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    safe = instance(exposureProfile="customer_safe", bindings=[BOUND], credentialReachesPublicContentOnly=True)
    stage.lay("GET", ONE, safe, ETag='"3"')
    stage.lay("GET", f"{PROVIDERS}/{BOUND}", binding(), ETag='"4"')
    page = stage.sign_in(f"#/instances/{INSTANCE}")
    expect(page.get_by_text("Private network")).to_be_visible()
    button(page, "Change").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Base URL").fill("https://dify.elsewhere.example/v1")
    notice = dialog.get_by_role("status").filter(has_text="Another server")
    expect(notice).to_contain_text("never carried to another server")
    expect(notice).to_contain_text("does not hold for the new one")
    expect(notice).to_contain_text("1 binding is switched off until")
    flawless(page, axe, screenshots, "instance-moved")

    stage.refuse("PATCH", ONE, 409, "credential_required", detail="Replace or clear the credential.")
    button(page, "Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("credential_required")
    dialog.get_by_label("Replace it").check()
    dialog.get_by_label("New credential").fill("another-key")
    dialog.get_by_label("This credential reaches public content and nothing else").check()
    moved = safe | {"baseUrl": "https://dify.elsewhere.example/v1", "acknowledged": [], "generation": 4}
    stage.lay("PATCH", ONE, moved, ETag='"4"')
    stage.lay("GET", f"{PROVIDERS}/{BOUND}", binding(status="disabled", needsTest=True), ETag='"5"')
    button(page, "Save").click()
    expect(dialog).to_have_count(0)
    assert stage.calls("PATCH", ONE)[-1].headers["if-match"] == '"3"'
    assert body_of(stage, "PATCH", ONE) == {
        "baseUrl": "https://dify.elsewhere.example/v1",
        "credential": {"action": "replace", "value": "another-key"},
        "credentialReachesPublicContentOnly": True,
    }


def test_what_is_bound_is_named_before_it_goes_with_its_instance(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    page = stage.sign_in(f"#/instances/{INSTANCE}")
    button(page, "Delete").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("Crew server")
    stage.refuse("DELETE", ONE, 409, "instance_in_use", bindings=[BOUND])
    dialog.get_by_role("button", name="Delete").click()
    expect(dialog.get_by_role("link", name=BOUND)).to_have_attribute("href", f"#/providers/{BOUND}")
    flawless(page, axe, screenshots, "instance-in-use")

    dialog.get_by_label("Delete this provider with it").check()
    stage.lay("DELETE", ONE, status=204)
    dialog.get_by_role("button", name="Delete").click()
    heading(page, "Instances")
    assert stage.calls("DELETE", ONE)[-1].url.endswith(f"?bindings={BOUND}")


def test_what_a_server_says_of_itself_is_text_and_no_more(stage: ConsoleStage, axe: Axe, screenshots: Keep) -> None:
    hostile = [entry(id=f"{at}{text}", name=text, description=text) for at, text in enumerate(HOSTILE)]
    folder = entry(id="folder", name=HOSTILE[0], kind="folder", notSearchable="folder")
    stage.lay("GET", f"{ONE}/catalog", catalog(*hostile, folder, isCut=True))
    page = stage.sign_in(f"#/instances/{INSTANCE}")
    for text in HOSTILE:
        expect(page.get_by_role("cell").filter(has_text=text).first).to_be_visible()
    flawless(page, axe, screenshots, "catalog-hostile")

    stage.lay("GET", f"{ONE}/catalog/{quote(hostile[1]['id'], safe='()')}", hostile[1])
    page.get_by_role("link", name=f"Bind {HOSTILE[1]}", exact=True).click()
    expect(page.get_by_label("Name", exact=True)).to_have_value(HOSTILE[1])
    assert page.locator(MADE_UP).count() == 0
    page.go_back()
    stage.settle()
    with page.expect_request(lambda request: "parent=folder" in request.url):
        page.get_by_role("link", name=HOSTILE[0], exact=True).click()
    expect(page.get_by_role("navigation", name="Folders")).to_contain_text(HOSTILE[0])


def test_a_test_says_each_thing_apart(stage: ConsoleStage, axe: Axe, screenshots: Keep) -> None:
    page = stage.sign_in(f"#/instances/{INSTANCE}?tab=test")
    page.get_by_label("Query (optional)").fill("night ferry")
    stage.refuse(
        "POST",
        f"{ONE}/test",
        422,
        "invalid_request",
        errors=[{"pointer": "/remoteId", "detail": "They come together."}],
    )
    button(page, "Test").click()
    expect(page.get_by_label("Id of a knowledge base")).to_have_accessible_description("They come together.")
    stage.lay("POST", f"{ONE}/test", instance_test())
    button(page, "Test").click()
    expect(page.get_by_role("listitem").filter(has_text="List readable")).to_contain_text("failed")
    expect(page.get_by_role("listitem").filter(has_text="Search")).to_contain_text("untested")
    expect(page.get_by_text("Bind with ids that you read in the product.")).to_be_visible()
    flawless(page, axe, screenshots, "instance-test")


def test_what_is_wrong_with_a_binding_stands_at_its_fields_and_what_the_server_did_above_them(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    page = stage.sign_in(f"#/instances/{INSTANCE}/bind/{quote(REMOTE, safe='')}")
    expect(page.get_by_text("1.14.2")).to_be_visible()
    page.get_by_label("As is set here").check()
    page.get_by_label("Search method").select_option("hybrid_search")
    page.get_by_label("Rerank (optional)", exact=True).select_option("weighted_score")
    page.get_by_label("Embedding model", exact=True).fill("embed-1")
    page.get_by_label("Provider of the embedding model").fill("maker")
    page.get_by_label("Passages a search").fill("99")
    wrong = ("/resultLimit", "/testQuery", "/config/retrievalModel/weights/keywordWeight")
    errors = [{"pointer": pointer, "detail": f"Wrong at {pointer}."} for pointer in wrong]
    stage.refuse("POST", PROVIDERS, 422, "invalid_request", errors=errors)
    button(page, "Test and bind").click()
    expect(page.get_by_label("Passages a search")).to_have_accessible_description("1 to 20 Wrong at /resultLimit.")
    expect(page.get_by_label("Weight of keywords")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Test query")).to_have_attribute("aria-invalid", "true")
    flawless(page, axe, screenshots, "bind-refused")

    stage.refuse("POST", PROVIDERS, 409, "test_failed", outcome="upstream_error", explanation="The server failed.")
    button(page, "Test and bind").click()
    expect(page.get_by_text("What the server did")).to_be_visible()
    sent = body_of(stage, "POST", PROVIDERS)
    assert (sent["instanceId"], sent["remoteId"], sent["kind"]) == (INSTANCE, REMOTE, "dify")
    weights = {"vectorWeight": 0.7, "keywordWeight": 0.3}
    names = {"embeddingProviderName": "maker", "embeddingModelName": "embed-1"}
    assert sent["config"]["retrievalModel"] == {
        "searchMethod": "hybrid_search",
        "rerankMode": "weighted_score",
        "weights": weights | names,
    }
