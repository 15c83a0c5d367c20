"""The console as somebody works it who has no mouse."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

_MOST_TABS = 60


def tab_to(page: Page, wanted: Locator, *, key: str = "Tab") -> None:
    """Presses Tab, or another key, until it has the focus, once it is there."""
    element = wanted.element_handle()
    for _ in range(_MOST_TABS):
        if not element.evaluate("(one) => one.isConnected"):  # drawn anew meanwhile
            element = wanted.element_handle()
        if element.evaluate("(one) => one === document.activeElement"):
            return
        page.keyboard.press(key)
    pytest.fail(f"{wanted} is not reached by Tab")


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def enter(page: Page, name: str) -> None:
    tab_to(page, button(page, name))
    page.keyboard.press("Enter")


def follow(page: Page, name: str) -> None:
    tab_to(page, page.get_by_role("link", name=name, exact=True))
    page.keyboard.press("Enter")


def type_into(page: Page, label: str, text: str) -> None:
    tab_to(page, page.get_by_label(label, exact=True))
    page.keyboard.insert_text(text)


def sign_in(page: Page, token: str, heading: str = "Health") -> None:
    expect(page.get_by_label("Admin token")).to_be_focused()
    page.keyboard.insert_text(token)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
