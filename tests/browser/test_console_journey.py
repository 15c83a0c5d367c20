"""A day at the console of a running gateway, with the keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.console_keyboard import button, enter, sign_in, tab_to
from tests.browser.console_stage import Axe
from tests.e2e.running import PROVIDERS, Gateway

pytestmark = [pytest.mark.emulator]


@pytest.fixture
def spare(demo: Gateway) -> Iterator[str]:
    """The id of one more provider at the public source of the demo, with a secret that nobody has told that source."""
    made = demo.as_admin(
        "POST",
        PROVIDERS,
        {"name": "Spare", "exposureProfile": "agent_only", "baseUrl": demo.local["providers"]["public"]["url"]},
    )
    provider_id = made.found["id"]
    yield provider_id
    if demo.as_admin("GET", f"{PROVIDERS}/{provider_id}").status == 200:
        demo.remove_provider(provider_id)


def test_a_provider_is_tested_and_its_secret_rotated_and_copied_without_a_mouse(
    demo: Gateway, open_page: OpenPage, spare: str
) -> None:
    watched = open_page(demo.console, permissions=["clipboard-read", "clipboard-write"])
    page = watched.page
    sign_in(page, demo.local["admin"])
    expect(page.get_by_role("table", name="Providers")).to_contain_text("Help centre")
    tab_to(page, page.get_by_role("link", name="Providers"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("link", name="Spare"))
    page.keyboard.press("Enter")

    tab_to(page, page.get_by_label("Query"))
    page.keyboard.type("ferry pass")
    page.keyboard.press("Enter")
    expect(page.get_by_text("unauthorized").first).to_be_visible()

    enter(page, "Rotate secret")
    expect(page.get_by_label("Both secrets sign for")).to_be_focused()
    enter(page, "Rotate")
    secret = page.get_by_label("New signing secret", exact=True)
    expect(secret).to_have_value(re.compile(r"\S{30,}"))
    shown = secret.input_value()
    enter(page, "Copy New signing secret")
    expect(page.get_by_role("status").filter(has_text="copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == shown
    tab_to(page, page.get_by_label("I have put it where it belongs"))
    page.keyboard.press("Space")
    enter(page, "Done")
    expect(button(page, "Rotate secret")).to_be_focused()
    expect(page.get_by_text("Both secrets sign")).to_be_visible()
    assert shown not in page.content()

    enter(page, "Sign out")
    expect(page.get_by_label("Admin token")).to_be_focused()
    assert demo.local["admin"] not in page.content()
    told = demo.as_admin("GET", f"{PROVIDERS}/{spare}").found
    assert told["rotation"] is not None


def test_a_provider_is_registered_tested_on_changed_and_deleted(demo: Gateway, open_page: OpenPage, axe: Axe) -> None:
    watched = open_page(demo.console)
    page = watched.page
    sign_in(page, demo.local["admin"])
    page.goto(f"{demo.console}#/providers")
    button(page, "Register a provider").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Kind").select_option("exa")
    dialog.get_by_label("Name").fill("Gangway, live")
    dialog.get_by_label("Approved hosts").fill("Docs.harbour.test")
    button(page, "Register").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Gangway, live")
    expect(page.get_by_text("It has to pass a test")).to_be_visible()

    page.get_by_label("Query").fill("gangway boarding")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Turned on", exact=True)).to_be_visible()
    expect(page.get_by_text("It has to pass a test")).to_have_count(0)
    assert axe(page) == []

    button(page, "Turn off").click()
    button(page, "Turn on").click()
    expect(button(page, "Turn off")).to_be_visible()
    button(page, "Change").click()
    dialog.get_by_label("Results").fill("90")
    button(page, "Save").click()
    expect(dialog.get_by_label("Results")).to_have_accessible_description(re.compile("less than or equal to 10"))
    dialog.get_by_label("Results").fill("3")
    button(page, "Save").click()
    expect(dialog).to_have_count(0)

    button(page, "Delete").click()
    dialog.get_by_role("textbox").fill("Gangway, live")
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Providers")
    expect(page.get_by_role("link", name="Help centre")).to_be_visible()
    expect(page.get_by_role("link", name="Gangway, live")).to_have_count(0)
