"""The widget on a website of another origin, and the gateway as it runs: script, preflight, key, limits."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from functions.assets.faces import SCRIPT, WIDGET, integrity_of, pinned_name, present_script
from tests.browser.conftest import OpenPage
from tests.browser.site import Site, running_site
from tests.browser.watching import Watched
from tests.browser.widget_stage import element
from tests.e2e.running import Gateway

POLICY = (
    "default-src 'none'; script-src {api}; connect-src {api}; style-src 'none'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


def laid(site: Site, demo: Gateway, key: str, *, name: str = SCRIPT) -> str:
    script = (
        f'<script src="{demo.url}{WIDGET}{name}" integrity="{integrity_of(present_script())}" crossorigin="anonymous">'
        "</script>"
    )
    inside = f"<main><h1>Help</h1>{element(api=demo.url, key=key)}</main>"
    page = f"<!doctype html><html lang='en'><head><title>Help</title>{script}</head><body>{inside}</body></html>"
    return site.lay("/help", page, csp=POLICY.format(api=demo.url))


def searched(watched: Watched, text: str) -> Watched:
    field = watched.page.locator("[part=input]")
    field.fill(text)
    field.press("Enter")
    return watched


@pytest.mark.parametrize("name", [SCRIPT, pinned_name(present_script())], ids=["present", "pinned"])
def test_a_visitor_finds_public_pages_by_keyboard(
    open_page: OpenPage, site: Site, demo: Gateway, site_key: str, name: str
) -> None:
    page = open_page(laid(site, demo, site_key, name=name)).page
    page.keyboard.press("/")
    page.keyboard.type("ferry pass")
    options = page.locator("a[part=option]")
    options.first.wait_for()
    page.keyboard.press("ArrowDown")

    told = demo.search("widget", query="ferry pass", limit=5, locale="en").found["results"]
    assert page.locator("[part=title]").all_inner_texts() == [" ".join(result["title"].split()) for result in told]
    assert [option.get_attribute("href") for option in options.all()] == [result["url"] for result in told]
    assert page.locator("mark").first.inner_text().lower() in ("ferry", "pass")
    assert page.locator("[aria-selected=true]").count() == 1


def test_a_key_for_another_site_finds_nothing_here(open_page: OpenPage, site: Site, demo: Gateway) -> None:
    key = demo.credential(**{"class": "pub", "origins": ["https://help.example.com"]})
    watched = searched(open_page(laid(site, demo, key)), "ferry pass")
    expect(watched.page.locator("[part=message] p")).to_contain_text("temporarily unavailable")
    assert watched.page.locator("[part=option]").count() == 0
    assert [error for error in watched.console_errors if "blocked by CORS policy" not in error] == []
    watched.forget()


def test_another_port_is_another_site(open_page: OpenPage, demo: Gateway, site_key: str) -> None:
    with running_site() as other:
        watched = open_page(laid(other, demo, site_key), origins=(demo.url,))
        searched(watched, "ferry pass")
        expect(watched.page.locator("[part=message] p")).to_contain_text("temporarily unavailable")
        watched.forget()


def test_the_gateways_own_limit_is_read_with_its_time(open_page: OpenPage, site: Site, demo: Gateway) -> None:
    key = demo.credential(**{"class": "pub", "origins": [site.origin], "addressRatePerMinute": 1})
    watched = open_page(laid(site, demo, key))
    for query in ("ferry pass", "ferry passes", "ferry refund"):  # a new minute may begin once
        searched(watched, query)
        watched.page.locator("[part=option], [part=message]:not([hidden])").first.wait_for()
    expect(watched.page.locator("[part=message] p")).to_contain_text("Trying again in")


def test_a_gateway_that_the_pages_policy_forbids_is_temporarily_unavailable(
    open_page: OpenPage, site: Site, demo: Gateway, site_key: str
) -> None:
    page = laid(site, demo, site_key)
    watched = open_page(page, origins=("http://127.0.0.1:9",))
    watched.page.evaluate("() => { document.querySelector('knowledge-search').api = 'http://127.0.0.1:9' }")
    searched(watched, "ferry pass")
    expect(watched.page.locator("[part=message] p")).to_contain_text("temporarily unavailable")
    assert [violation.partition(":")[0] for violation in watched.violations] == ["connect-src"]
    watched.forget()
