"""What the widget does not do: ask twice, speak to nobody, take a new tab or a marked text from a visitor."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from infra.bundles.widget_document import DOCUMENT
from tests.browser.widget_stage import Stage, Theatre, element, result

SET = "([name, value]) => { document.querySelector('knowledge-search').setAttribute(name, value) }"


@pytest.fixture
def timed(theatre: Theatre) -> Stage:
    return theatre(clock=True)


def test_a_question_is_under_way_once_however_long_enter_is_held(timed: Stage) -> None:
    timed.holding = True
    timed.write("ferry")
    timed.go_on(300)
    timed.wait_for_questions(1)
    for _ in range(5):
        timed.page.keyboard.down("Enter")
    timed.page.keyboard.type(" ")
    timed.go_on(300)
    timed.release(0, result())
    expect(timed.options).to_have_count(1)
    for _ in range(5):
        timed.page.keyboard.down("Enter")
    assert (timed.queries, timed.active) == (["ferry"], "")
    timed.page.keyboard.up("Enter")
    timed.page.keyboard.press("Enter")
    assert timed.active == "Ferry passes"


def test_other_words_or_another_gateway_are_another_question(timed: Stage) -> None:
    timed.holding = True
    timed.write("ferry")
    timed.page.keyboard.press("Enter")
    timed.wait_for_questions(1)
    timed.go_on(300)
    expect(timed.message).to_have_text("Searching…")
    timed.page.evaluate(SET, ["api", "https://kb.example.com/two"])
    timed.wait_for_questions(2)
    timed.page.keyboard.type("s")
    timed.page.keyboard.press("Enter")
    timed.wait_for_questions(3)

    assert timed.queries == ["ferry", "ferry", "ferrys"]


def test_who_has_left_hears_nothing_of_what_comes_later(timed: Stage) -> None:
    timed.holding = True
    timed.write("ferry")
    timed.go_on(300)
    timed.wait_for_questions(1)
    timed.page.keyboard.press("Tab")
    timed.release(0, result())
    expect(timed.options).to_have_count(1)
    timed.go_on(2_000)

    assert (timed.said, timed.part("popup").count()) == ("", 0)
    timed.input.click()
    expect(timed.options).to_be_visible()


@pytest.mark.parametrize("way", ["keyboard", "pointer"])
def test_who_has_left_is_not_asked_for_again_when_a_limit_ends(timed: Stage, way: str) -> None:
    timed.refuse(429, "rate_limited", Retry_After="2")
    timed.search("ferry")
    expect(timed.message).to_contain_text("Trying again in 2 seconds")
    if way == "keyboard":
        timed.page.keyboard.press("Tab")
    else:
        timed.page.locator("h1").click()
    timed.go_on(10_000)
    timed.answer(result())
    timed.search("refund")
    expect(timed.options).to_have_count(1)

    assert timed.queries == ["ferry", "refund"]


def test_a_clock_that_is_set_back_makes_no_wait_longer(timed: Stage) -> None:
    timed.refuse(429, "rate_limited", Retry_After="5")
    timed.search("ferry")
    timed.page.evaluate("() => { const { now } = Date; Date.now = () => now() - 3_600_000 }")
    timed.search("refund")

    expect(timed.message).to_contain_text("Trying again in 5 seconds")


def test_a_change_of_looks_keeps_the_active_result_and_says_nothing(timed: Stage) -> None:
    timed.search("ferry")
    timed.page.keyboard.press("ArrowDown")
    timed.page.keyboard.press("ArrowDown")
    timed.page.evaluate(SET, ["theme", "dark"])
    assert timed.active == "Fähren: Gruppenpass"
    timed.page.keyboard.press("Escape")
    timed.page.evaluate(SET, ["theme", "light"])
    timed.go_on(2_000)
    assert timed.said == ""


def test_a_change_of_looks_while_somebody_writes_keeps_the_answer_in_sight(timed: Stage) -> None:
    timed.write("ferry")
    timed.page.evaluate(SET, ["theme", "dark"])
    timed.go_on(300)

    expect(timed.options.first).to_be_visible()


def test_a_visitor_who_tries_again_is_believed_before_the_browser(theatre: Theatre) -> None:
    stage = theatre()
    stage.page.evaluate("() => { Object.defineProperty(navigator, 'onLine', {get: () => false}) }")
    stage.search()
    expect(stage.message).to_contain_text("You are offline")
    assert stage.asked == []
    stage.part("retry").click()

    expect(stage.options).to_have_count(3)


def test_a_dialog_that_is_opened_again_shows_its_results_and_none_is_active(theatre: Theatre) -> None:
    stage = theatre(element(layout="dialog"))
    stage.part("trigger").click()
    stage.search()
    stage.page.keyboard.press("ArrowDown")
    stage.page.keyboard.press("Escape")
    expect(stage.part("dialog")).to_have_count(0)
    stage.part("trigger").click()

    expect(stage.options.first).to_be_visible()
    assert stage.active == ""
    assert len(stage.asked) == 1


def test_text_that_is_no_link_can_be_marked_and_the_next_key_goes_to_the_field(theatre: Theatre) -> None:
    stage = theatre()
    stage.search("ferry")
    stage.part("snippet").first.hover()
    stage.page.mouse.down()
    assert stage.focused() == "input", "a result that is pressed leaves the focus where it is"
    stage.page.mouse.move(5, 5)
    stage.page.mouse.up()
    box = stage.part("snippet").nth(2).bounding_box()
    assert box
    mouse = stage.page.mouse
    mouse.move(box["x"] + 2, box["y"] + 8)
    mouse.down()
    mouse.move(box["x"] + 150, box["y"] + 8, steps=3)
    mouse.up()
    assert "ferry" in stage.page.evaluate("String(getSelection())")
    assert stage.part("popup").count() == 1
    stage.page.keyboard.press("Control+c")
    assert stage.focused() == "popup"
    stage.page.keyboard.type("s")
    assert (stage.focused(), stage.input.input_value()) == ("input", "ferrys")
    expect(stage.options.first).to_be_visible()
    mouse.click(box["x"] + 2, box["y"] + 8)
    assert stage.focused() == "input", "a click marks nothing"


OTHERWISE = ({"ctrlKey": True}, {"metaKey": True}, {"shiftKey": True}, {"altKey": True}, {"button": 1})


def router() -> str:
    """The example of the document."""
    examples: list[str] = re.findall(r"```js\n(.+?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    return next(code for code in examples if "router" in code)


def test_a_router_as_the_document_shows_it_leaves_new_tabs_to_the_browser(theatre: Theatre) -> None:
    stage = theatre()
    here = stage.page.url.removesuffix("/page")
    there = theatre.site.lay("/there", "<!doctype html><html lang='en'><title>There</title><h1>There</h1></html>")
    stage.answer(result(url=there))
    stage.page.evaluate(f"() => {{ window.went = []; const router = {{go: (path) => went.push(path)}}; {router()} }}")
    stage.search()
    with stage.page.context.expect_page() as opened:
        stage.options.click(modifiers=["Control"])
    opened.value.close()
    assert (stage.page.evaluate("went"), stage.part("popup").count()) == ([], 1)
    stage.options.click()

    assert (stage.page.evaluate("went"), stage.page.url) == (["/there"], f"{here}/page")


def test_a_page_is_told_what_opens_elsewhere_and_cannot_keep_it(theatre: Theatre) -> None:
    stage = theatre()
    stage.search()
    stage.page.evaluate(
        """() => { window.told = [];
        document.addEventListener("knowledge-search:select", (event) => {
          event.preventDefault();
          told.push([event.detail.newTab, event.defaultPrevented]);
        });
        for (const type of ["click", "auxclick"]) addEventListener(type, (event) => {
          told.at(-1).push(event.defaultPrevented);
          event.preventDefault();
        }) }"""
    )
    press = """(option, how) => { option.dispatchEvent(new MouseEvent(how.button ? "auxclick" : "click",
      {bubbles: true, composed: true, cancelable: true, ...how})) }"""
    for how in OTHERWISE:
        stage.options.first.evaluate(press, how)
    stage.page.evaluate(SET, ["target", "_blank"])
    stage.options.first.evaluate(press, {})
    assert stage.page.evaluate("told") == [[True, False, False]] * 6
    stage.page.evaluate(SET, ["target", "_self"])
    stage.options.first.evaluate(press, {"button": 2})
    stage.options.first.evaluate(press, {})

    assert stage.page.evaluate("told.slice(6)") == [[False, True, True]]
