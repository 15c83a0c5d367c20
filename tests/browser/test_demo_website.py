"""The website that `kgw up` starts beside the gateway, as somebody who is new here sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.e2e.running import Gateway

pytestmark = [pytest.mark.emulator]

QUESTIONS = {
    "en": ("ferry pass", "The ferry pass"),
    "de": ("Fährpass", "Der Fährpass"),
    "zh": ("渡轮卡", "渡轮卡"),
    "ar": ("ferry pass", "The ferry pass"),
}


def address(demo: Gateway, **wishes: str) -> str:
    return f"{demo.website}/?{urlencode(wishes)}"


def ask(page: Page, query: str) -> None:
    page.get_by_role("combobox").fill(query)


@pytest.mark.parametrize(
    ("language", "theme", "width"),
    [("en", "light", 1280), ("de", "dark", 1280), ("zh", "auto", 1280), ("ar", "dark", 360)],
)
def test_the_widget_finds_passages_in_every_language_and_look_and_breaks_no_rule(
    demo: Gateway,
    open_page: OpenPage,
    axe: Callable[[Page], list[dict[str, Any]]],
    screenshots: Callable[[Page, str], None],
    language: str,
    theme: str,
    width: int,
) -> None:
    watched = open_page(address(demo, lang=language, theme=theme), viewport={"width": width, "height": 900})
    page, (query, title) = watched.page, QUESTIONS[language]
    screenshots(page, f"website-{language}-{theme}")
    expect(page.get_by_role("main")).to_contain_text("help.lumsund.example")  # where results lead, and nothing is
    ask(page, query)
    expect(page.get_by_role("option").filter(has_text=title).first).to_be_visible()
    screenshots(page, f"website-{language}-{theme}-asked")
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.documentElement.dir") == ("rtl" if language == "ar" else "ltr")


def test_language_look_and_articles_are_a_link_away(demo: Gateway, open_page: OpenPage) -> None:
    page = open_page(demo.website + "/").page
    page.get_by_role("link", name="Deutsch").click()
    page.get_by_role("link", name="Dunkel").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("link", name="Der Fährpass").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Der Fährpass")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("combobox")).to_be_visible()


def test_a_script_that_is_not_the_one_the_site_expects_does_not_run(
    demo: Gateway, open_page: OpenPage, axe: Callable[[Page], list[dict[str, Any]]]
) -> None:
    watched = open_page()
    watched.allowed |= {demo.website}
    watched.page.route(
        demo.local["widgetScript"]["url"],
        lambda route: route.fulfill(
            body="customElements.define('knowledge-search', class extends HTMLElement {})",
            content_type="text/javascript",
            headers={"Access-Control-Allow-Origin": "*"},
        ),
    )
    watched.page.goto(demo.website + "/")

    assert watched.page.evaluate("customElements.get('knowledge-search') === undefined")
    assert any("integrity" in error for error in watched.console_errors), watched.missteps()
    assert axe(watched.page) == []
    watched.forget()
