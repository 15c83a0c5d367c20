"""The widget by keyboard alone: in the field, over the page's shortcuts, in and out of the dialog."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.widget_stage import RESULTS, Stage, Theatre, element, result

ELSEWHERE = (
    "<input id='name' aria-label='Name'><textarea id='text' aria-label='Text'></textarea>"
    "<select id='choice' aria-label='Choice'><option>k</option></select>"
    "<div id='editor' contenteditable='true'><p>Here</p></div><div id='role' role='textbox' tabindex='0'>x</div>"
    "<x-open id='open'></x-open><x-closed id='closed'></x-closed><div id='plain'></div>"
    "<button id='button'>Button</button>"
)
OTHER_TREES = """() => {
  for (const [id, mode] of [["open", "open"], ["closed", "closed"], ["plain", "closed"]]) {
    const field = document.createElement("input");
    const host = document.getElementById(id);
    host.attachShadow({mode}).append(field);
    host.written = () => field.value;
    host.focusInside = () => field.focus();
  }
}"""


def chosen(stage: Stage) -> list[dict[str, Any]]:
    """Notes what the page is told about choices, and keeps the page where it is."""
    stage.page.evaluate(
        """() => { window.chosen = []; document.addEventListener("knowledge-search:select", (event) => {
        event.preventDefault(); window.chosen.push(event.detail) }) }"""
    )
    return []


def test_a_search_from_the_first_tab_to_the_opened_page(theatre: Theatre) -> None:
    stage = theatre()
    here = stage.page.url.removesuffix("/page")
    stage.answer(result(url=f"{here}/there"))
    theatre.site.lay("/there", "<!doctype html><html lang='en'><title>There</title><h1>There</h1></html>")
    for _ in range(2):
        stage.page.keyboard.press("Tab")
    assert stage.focused() == "input"
    stage.page.keyboard.type("ferry")
    stage.options.wait_for()
    stage.page.keyboard.press("ArrowDown")
    stage.page.keyboard.press("Enter")

    stage.page.wait_for_url("**/there")


def test_arrows_go_through_the_results_and_by_way_of_the_field(theatre: Theatre) -> None:
    stage = theatre()
    stage.search()
    titles = [str(told["title"]) for told in RESULTS]

    walked = []
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "Home", "End"):
        stage.page.keyboard.press(key)
        walked.append(stage.active)
    assert walked == [*titles, "", titles[2], titles[0], titles[2]]
    assert stage.focused() == "input"
    assert stage.options.nth(2).get_attribute("aria-selected") == "true"
    stage.page.keyboard.press("Escape")
    assert stage.active == ""
    stage.page.keyboard.press("Enter")
    expect(stage.options.nth(2)).to_be_visible()
    assert stage.page.url.endswith("/page"), "what is not seen is not opened"


def test_home_and_end_move_in_the_words_while_no_result_is_active(theatre: Theatre) -> None:
    stage = theatre()
    stage.search("ferry")
    stage.page.keyboard.press("Home")

    assert stage.active == ""
    assert stage.input.evaluate("(input) => input.selectionStart") == 0


def test_what_assistive_technology_is_told_of_field_and_results(theatre: Theatre) -> None:
    stage = theatre(element(target="_blank"))
    assert stage.input.get_attribute("aria-expanded") == "false"
    stage.search()

    assert stage.input.get_attribute("aria-expanded") == "true"
    expect(stage.page.get_by_role("search")).to_have_accessible_name("Search the help pages")
    expect(stage.page.get_by_role("listbox")).to_have_accessible_name("Results")
    snippet = "A ferry pass is valid on every night ferry."
    expect(stage.options.nth(0)).to_have_accessible_name(f"Ferry passes {snippet} help.example.com opens in a new tab")
    expect(stage.options.nth(1)).to_have_accessible_name(
        "Fähren: Gruppenpass Für Gruppen. hilfe.example.com German opens in a new tab"
    )
    expect(stage.options.nth(2)).to_have_accessible_name(re.compile("^Refunds A ferry .*… without a link$"))


def test_escape_closes_then_empties_then_goes_back_to_where_the_shortcut_was_pressed(theatre: Theatre) -> None:
    stage = theatre(element() + ELSEWHERE)
    stage.page.locator("#button").focus()
    stage.page.keyboard.press("/")
    stage.page.keyboard.type("ferry")
    stage.options.first.wait_for()

    stage.page.keyboard.press("Escape")
    assert (stage.part("popup").count(), stage.input.input_value(), stage.focused()) == (0, "ferry", "input")
    assert stage.input.get_attribute("aria-expanded") == "false"
    stage.page.keyboard.press("ArrowDown")
    assert stage.active == "Ferry passes", "what was found is still there"
    assert len(stage.asked) == 1
    stage.page.keyboard.press("Escape")
    stage.page.keyboard.press("Escape")
    assert (stage.input.input_value(), stage.focused()) == ("", "input")
    stage.page.keyboard.press("Escape")
    assert stage.focused() == "button"
    stage.page.keyboard.press("/")
    stage.page.keyboard.press("Shift+Tab")
    stage.input.click()
    stage.page.keyboard.press("Escape")
    assert stage.focused() == "input", "who has come by another way goes back no more"


def test_tab_leaves_and_closes(theatre: Theatre) -> None:
    stage = theatre(element() + ELSEWHERE)
    stage.search()
    stage.page.keyboard.press("Tab")

    assert stage.focused() == "name"
    assert stage.part("popup").count() == 0


def test_enter_asks_at_once_then_takes_the_first(theatre: Theatre) -> None:
    stage = theatre(clock=True)
    stage.write("ferry")
    assert stage.asked == []
    stage.page.keyboard.press("Enter")
    stage.options.first.wait_for()
    assert stage.active == ""
    stage.page.keyboard.press("Enter")
    assert stage.active == "Ferry passes"
    assert len(stage.asked) == 1


def test_the_page_may_open_results_in_its_own_way(theatre: Theatre) -> None:
    stage = theatre()
    chosen(stage)
    stage.search("ferry pass")
    stage.page.keyboard.press("ArrowDown")
    stage.page.keyboard.press("Enter")

    told = {"url": RESULTS[0]["url"], "title": "Ferry passes", "position": 1, "query": "ferry pass", "newTab": False}
    assert stage.page.evaluate("chosen") == [told]
    assert stage.page.url.endswith("/page")
    assert stage.part("popup").count() == 0


def test_keys_written_in_the_field_are_not_taken_for_shortcuts_of_the_page(theatre: Theatre) -> None:
    stage = theatre()
    stage.page.evaluate(
        """() => { window.heard = []; document.addEventListener("keydown", ({key}) => window.heard.push(key)) }"""
    )
    stage.write("ferry /?")
    stage.page.keyboard.press("Control+b")

    assert stage.page.evaluate("heard") == ["Control", "b"]
    assert stage.input.input_value() == "ferry /?"


def compose(page: Page, text: str, *, done: bool = False) -> None:
    """As an input method does."""
    session = page.context.new_cdp_session(page)
    if done:
        session.send("Input.insertText", {"text": text})
    else:
        session.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})
    session.detach()


def test_nothing_is_asked_while_an_input_method_composes(theatre: Theatre) -> None:
    stage = theatre(clock=True)
    stage.input.click()
    compose(stage.page, "lun")
    compose(stage.page, "lundu")
    stage.page.clock.run_for(5_000)
    enter = "new KeyboardEvent('keydown', {key: 'Enter', keyCode: 229, isComposing: true, bubbles: true})"
    stage.input.evaluate(f"(input) => {{ input.dispatchEvent({enter}) }}")
    assert stage.asked == []

    compose(stage.page, "轮渡", done=True)
    stage.page.clock.run_for(1_000)
    stage.options.first.wait_for()
    assert [asked["query"] for asked in stage.asked] == ["轮渡"]


SHORTCUTS: tuple[tuple[str, str, bool], ...] = (
    ("both", "/", True),
    ("both", "Control+k", True),
    ("both", "Meta+k", True),
    ("both", "Control+Shift+k", False),
    ("both", "Control+Meta+k", False),
    ("both", "Alt+/", False),
    ("both", "k", False),
    ("slash", "/", True),
    ("slash", "Control+k", False),
    ("ctrl-k", "/", False),
    ("ctrl-k", "Control+k", True),
    ("off", "/", False),
    ("off", "Control+k", False),
)


def test_each_shortcut_works_where_it_is_wanted(theatre: Theatre) -> None:
    stage = theatre(element() + ELSEWHERE)
    for wanted, key, works in SHORTCUTS:
        stage.page.evaluate("(wanted) => { document.querySelector('knowledge-search').shortcut = wanted }", wanted)
        stage.page.locator("#button").focus()
        stage.page.keyboard.press(key)

        assert (stage.focused() == "input") is works, (wanted, key)
        assert stage.input.input_value() == ""


def test_no_shortcut_takes_a_key_from_something_that_is_written_into(theatre: Theatre) -> None:
    stage = theatre(element() + ELSEWHERE)
    stage.page.evaluate(OTHER_TREES)
    for place in ("name", "text", "choice", "editor", "role", "open", "closed", "plain"):
        stage.page.evaluate(
            "(id) => { const e = document.getElementById(id); e.focusInside ? e.focusInside() : e.focus() }", place
        )
        before = stage.focused()
        for key in ("/", "Control+k"):
            stage.page.keyboard.press(key)
            assert stage.focused() == before, (place, key)
    assert stage.page.locator("#name").input_value() == "/"
    for place in ("open", "closed", "plain"):
        assert stage.page.evaluate("(id) => document.getElementById(id).written()", place) == "/"


def test_a_key_that_is_held_or_belongs_to_an_input_method_is_no_shortcut(theatre: Theatre) -> None:
    stage = theatre()
    press = "(how) => { document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true, ...how})) }"
    for how in ({"repeat": True}, {"isComposing": True}):
        stage.page.evaluate(press, how)
        assert stage.focused() == "body"
    stage.page.evaluate(press, {})
    assert stage.focused() == "input"


def test_a_page_that_has_used_a_key_itself_keeps_it(theatre: Theatre) -> None:
    stage = theatre(element() + ELSEWHERE)
    stage.page.evaluate("() => document.body.addEventListener('keydown', (event) => event.preventDefault())")
    stage.page.locator("#button").focus()
    stage.page.keyboard.press("/")

    assert stage.focused() == "button"


def test_the_first_element_that_can_be_seen_takes_the_key(theatre: Theatre) -> None:
    first, second = element(label="First", hidden=True), element(label="Second")
    stage = theatre(f"{first}{second}{element(label='Third')}")
    stage.page.keyboard.press("/")
    assert stage.page.evaluate("document.activeElement.getAttribute('label')") == "Second"


@pytest.mark.parametrize("way", ["button", "shortcut"])
def test_the_dialog_takes_the_focus_and_gives_it_back(theatre: Theatre, way: str) -> None:
    stage = theatre(element(layout="dialog") + ELSEWHERE)
    if way == "button":
        stage.part("trigger").focus()
        stage.page.keyboard.press("Enter")
    else:
        stage.page.locator("#button").focus()
        stage.page.keyboard.press("Control+k")
    assert stage.focused() == "input"
    expect(stage.page.get_by_role("dialog")).to_have_accessible_name("Search the help pages")
    stage.search()
    stage.page.keyboard.press("ArrowDown")
    assert stage.active == "Ferry passes"

    stage.page.keyboard.press("Escape")
    assert stage.part("dialog").count() == 0
    assert stage.focused() == ("trigger" if way == "button" else "button")


def test_the_dialog_holds_the_focus_and_closes_from_its_button_and_from_beside_it(theatre: Theatre) -> None:
    stage = theatre(element(layout="dialog"))
    for beside in (False, True):
        stage.part("trigger").click()
        for _ in range(4):
            stage.page.keyboard.press("Tab")
            assert stage.focused() in ("input", "close", "body")
        if beside:
            stage.page.mouse.click(5, 300)
        else:
            stage.part("close").click()
        expect(stage.part("dialog")).to_have_count(0)
        assert stage.focused() == "trigger"


def test_a_pointer_opens_a_result_and_a_click_beside_closes(theatre: Theatre) -> None:
    stage = theatre(element() + ELSEWHERE)
    chosen(stage)
    stage.search()
    stage.page.locator("h1").click()
    assert stage.part("popup").count() == 0
    stage.input.click()
    stage.part("snippet").nth(1).click()

    assert [told["position"] for told in stage.page.evaluate("chosen")] == [2]


def test_the_cross_empties_the_field_and_stays_in_it(theatre: Theatre) -> None:
    stage = theatre()
    stage.search()
    stage.part("clear").click()

    assert (stage.input.input_value(), stage.focused()) == ("", "input")
    assert stage.part("popup").count() == 0
    assert stage.part("clear").count() == 0
