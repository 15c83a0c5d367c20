"""The element as a guest on pages: under strict policies, moved about, several, twice, early, and set up wrongly."""

from __future__ import annotations

import gzip
import re

import pytest
from playwright.sync_api import ConsoleMessage, expect

from functions.assets.faces import integrity_of, pinned_name, present_script
from infra.bundles.widget_document import DOCUMENT, with_present_build
from tests.browser.widget_stage import API, KEY, Stage, Theatre, element, result

MOST_PACKED_BYTES = 15_000
WIDGET = "document.querySelector('knowledge-search')"
# What a page could be harmed by, or could forbid.
NEVER = re.compile(
    r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function|createContextualFragment|srcdoc"
    r"|localStorage|sessionStorage|indexedDB|document\.cookie|sendBeacon|XMLHttpRequest|importScripts|\bimport\("
)


def warnings_of(stage: Stage) -> list[str]:
    heard: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "warning":
            heard.append(message.text)

    stage.page.on("console", note)
    return heard


def test_the_script_is_small_and_says_whose_it_is() -> None:
    script = present_script()
    packed = len(gzip.compress(script, 9))
    print(f"knowledge-search.js: {len(script):,} bytes, {packed:,} packed, of {MOST_PACKED_BYTES:,} at most")

    assert packed <= MOST_PACKED_BYTES
    assert script.startswith(b"/*! <knowledge-search>")
    assert b"Apache License 2.0" in script[:150]
    assert NEVER.search(script.decode()) is None


def test_it_names_no_address_but_the_one_it_is_given() -> None:
    named = set(re.findall(r"https?://[^\"'`\s;]+", present_script().decode()))
    assert named == {"http://www.w3.org/2000/svg", "https://kb.example.com"}


@pytest.mark.parametrize("layout", ["inline", "dialog"])
def test_it_is_styled_under_the_strictest_policy(theatre: Theatre, layout: str) -> None:
    policy = (
        "default-src 'none'; script-src {origin}/widget.js; style-src 'none'; base-uri 'none'; form-action 'none'; "
        f"connect-src {API}; require-trusted-types-for 'script'; trusted-types 'none'; "
        "sandbox allow-scripts allow-same-origin"
    )
    stage = theatre(element(layout=layout, theme="light"), csp=policy)
    if layout == "dialog":
        stage.part("trigger").click()
    stage.search()

    expect(stage.options).to_have_count(3)
    assert stage.part("field").evaluate("(e) => getComputedStyle(e).borderRadius") == "10px"
    assert stage.page.locator("knowledge-search").locator("style, script, link, [style]").count() == 0


def test_without_adopted_style_sheets_it_works_unstyled(theatre: Theatre) -> None:
    stage = theatre(
        early="delete ShadowRoot.prototype.adoptedStyleSheets; delete Document.prototype.adoptedStyleSheets"
    )
    assert stage.part("popup").count() == 0
    stage.search()
    stage.page.keyboard.press("ArrowDown")

    assert stage.active == "Ferry passes"
    stage.page.keyboard.press("Escape")
    assert stage.part("popup").count() == 0


def test_a_script_that_is_there_twice_is_no_trouble(theatre: Theatre) -> None:
    stage = theatre("<script src='/widget.js?again'></script>" + element(), csp="script-src {origin}; connect-src *")
    stage.search()

    expect(stage.options).to_have_count(3)


def test_what_was_set_before_the_script_came_is_taken(theatre: Theatre) -> None:
    late = "<div id='place'></div><script src='/early.js'></script><script src='/widget.js?late' defer></script>"
    early = f"""
    const element = document.createElement("knowledge-search");
    Object.assign(element, {{api: "{API}", key: "{KEY}", limit: 3, strings: {{placeholder: "Ask"}}, query: "ferry"}});
    document.getElementById("place").append(element);
    """
    theatre.site.lay("/early.js", early, media_type="text/javascript")
    page = f"<!doctype html><html lang='en'><title>T</title><main>{late}</main></html>"
    stage = theatre()
    theatre.site.lay("/late", page)
    stage.page.goto(theatre.site.origin + "/late")
    expect(stage.input).to_have_attribute("placeholder", "Ask")
    expect(stage.input).to_have_value("ferry")
    stage.page.evaluate("() => document.querySelector('knowledge-search').search()")
    expect(stage.options).to_have_count(3)

    assert stage.asked == [{"query": "ferry", "limit": 3, "locale": "en"}]
    assert stage.page.evaluate("document.querySelector('knowledge-search').getAttribute('limit')") == "3"


def test_several_on_a_page_keep_to_themselves(theatre: Theatre) -> None:
    stage = theatre(element(label="One") + element(label="Two", api="https://kb.example.com/two"))
    second = stage.page.locator("[part=input]").nth(1)
    stage.search("one")
    second.fill("two")
    second.press("Enter")
    expect(stage.page.locator("[part=popup]:visible")).to_have_count(1)
    expect(stage.options.first).to_be_attached()

    assert [asked["query"] for asked in stage.asked] == ["one", "two"]
    assert stage.input.input_value() == "one"


def test_leaving_the_page_during_a_question_ends_it_and_coming_back_works(theatre: Theatre) -> None:
    stage = theatre("<div id='a'>" + element() + "</div><div id='b'></div>")
    stage.holding = True
    stage.write("ferry")
    stage.input.press("Enter")
    stage.wait_for_questions(1)
    with stage.page.expect_event("requestfailed"):
        stage.page.evaluate("() => { window.kept = document.querySelector('knowledge-search'); kept.remove() }")
    stage.page.evaluate("() => { document.getElementById('b').append(window.kept) }")
    assert stage.part("popup").count() == 0
    stage.holding = False
    stage.search("ferry")
    stage.page.evaluate("() => { document.getElementById('a').append(window.kept) }")
    stage.page.locator("h1").click()
    stage.page.keyboard.press("/")

    assert stage.focused() == "input"
    stage.search("refund")
    expect(stage.options).to_have_count(3)


COUNT_LISTENERS = """() => {
  window.listeners = new Set();
  const number = (listener) => ids.get(listener) ?? ids.set(listener, ids.size).get(listener);
  const named = (target, [type, listener]) => `${target === window} ${type} ${number(listener)}`;
  const ids = new Map();
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  const isOfThePage = (target) => target === window || target === document || target === undefined;
  EventTarget.prototype.addEventListener = function (...told) {
    if (isOfThePage(this)) listeners.add(named(this ?? window, told));
    addEventListener.apply(this ?? window, told);
  };
  EventTarget.prototype.removeEventListener = function (...told) {
    if (isOfThePage(this)) listeners.delete(named(this ?? window, told));
    removeEventListener.apply(this ?? window, told);
  };
}"""


def test_an_element_that_is_taken_away_leaves_nothing_behind(theatre: Theatre) -> None:
    stage = theatre(clock=True)
    stage.page.evaluate(f"() => {{ window.kept = {WIDGET}; kept.remove() }}")
    stage.page.evaluate(COUNT_LISTENERS)
    stage.page.evaluate("() => { document.body.append(kept, kept.cloneNode()) }")
    assert stage.page.evaluate("listeners.size") >= 7
    stage.write("ferry")
    stage.page.evaluate("() => { document.querySelectorAll('knowledge-search').forEach((e) => e.remove()) }")
    assert stage.page.evaluate("[...listeners]") == []
    stage.go_on(1_000)
    stage.page.evaluate("() => { document.body.append(kept); kept.query = null }")
    assert stage.input.input_value() == ""
    stage.search("refund")
    expect(stage.options).to_have_count(3)

    assert stage.queries == ["refund"]


def test_attributes_count_from_the_moment_they_change(theatre: Theatre) -> None:
    stage = theatre()
    stage.search()
    set_to = "([name, value]) => { document.querySelector('knowledge-search').setAttribute(name, value) }"
    stage.page.evaluate(set_to, ["limit", "1"])
    expect(stage.options).to_have_count(1)
    stage.page.evaluate(set_to, ["locale", "de"])
    expect(stage.input).to_have_attribute("placeholder", "Suchen …")
    stage.page.evaluate(set_to, ["placeholder", "Fragen"])
    expect(stage.input).to_have_attribute("placeholder", "Fragen")
    stage.page.evaluate(set_to, ["layout", "dialog"])
    stage.part("trigger").click()
    expect(stage.input).to_have_value("ferry pass")
    stage.search("wieder")
    expect(stage.options).to_have_count(1)

    assert [(asked["query"], asked["limit"], asked["locale"]) for asked in stage.asked] == [
        ("ferry pass", 5, "en"), ("ferry pass", 1, "en"), ("ferry pass", 1, "de"), ("wieder", 1, "de"),
    ]  # fmt: skip


WRONG = {
    "no api": element(api=False),
    "a relative api": element(api="/kb"),
    "a script": element(api="javascript:alert(1)"),
    "userinfo": element(api="https://a:b@kb.example.com"),
    "a query in it": element(api="https://kb.example.com/?x=1"),
    "no key": element(key=False),
    "no widget key": element(key="kg_pub_short"),
    "a secret": element(key=KEY.replace("pub", "adm")),
}


NOT_HERE = "The search is not available on this page."


def test_set_up_wrongly_it_is_calm_and_tells_the_owner_once(theatre: Theatre) -> None:
    heard = warnings_of(theatre())
    for name, inside in WRONG.items():
        heard.clear()
        stage = theatre(inside.replace("></", "><a href='/search'>Another way</a></"))
        expect(stage.input).to_be_disabled()
        expect(stage.input).to_have_attribute("placeholder", NOT_HERE)
        expect(stage.page.get_by_role("link", name="Another way")).to_be_visible()
        stage.page.keyboard.press("/")
        stage.page.evaluate("() => new Promise((resolve) => setTimeout(resolve, 5))")

        assert len(heard) == 1, name
        assert stage.asked == [], name
        assert ("revoke" in heard[0]) is (name == "a secret")
        assert not re.search("0f0f|short", heard[0]), "a key is never said again"


def test_a_dialog_that_is_set_up_wrongly_does_not_open(theatre: Theatre) -> None:
    stage = theatre(element(layout="dialog", key=False))

    expect(stage.part("trigger")).to_have_text(NOT_HERE)
    expect(stage.part("trigger")).to_be_disabled()
    stage.page.evaluate("() => { document.querySelector('knowledge-search').search('ferry') }")
    assert stage.part("dialog").count() == 0
    assert stage.asked == []


def test_a_page_may_say_everything_in_its_own_words(theatre: Theatre) -> None:
    own = (
        '{"empty": "Nix für {query} {other}", "results": {"other": "{count} Treffer"}, "label": 7, "unknown": "x", '
        '"__proto__": {"open": "y"}}'
    )
    stage = theatre(element(strings=own, locale="de"))
    stage.search()
    expect(stage.page.get_by_role("status").first).to_have_text("3 Treffer")
    stage.answer()
    stage.search("<b>")
    expect(stage.message).to_have_text("Nix für <b> {other}")
    assert stage.input.get_attribute("aria-expanded") == "false", "a message is no list"
    expect(stage.page.get_by_role("search")).to_have_accessible_name("Hilfeseiten durchsuchen")
    stage.page.evaluate("() => { document.querySelector('knowledge-search').strings = {empty: 'Leer'} }")
    expect(stage.message).to_have_text("Leer")


PLURALS = {
    "en": ["1 result", "2 results"],
    "de": ["1 Ergebnis", "2 Ergebnisse"],
    "zh": ["1 条结果", "2 条结果"],
    "ar": ["نتيجة واحدة", "نتيجتان"],
}


def test_counts_are_said_in_the_forms_of_each_language(theatre: Theatre) -> None:
    for locale, forms in PLURALS.items():
        stage = theatre(element(locale=locale), clock=True)
        said = []
        for count in (1, 2):
            stage.answer(*[result()] * count)
            stage.search(f"ferry {count}")
            expect(stage.options).to_have_count(count)
            stage.page.clock.run_for(1_000)
            said.append(stage.said)
        assert said == forms


def test_a_page_taken_up_again_from_the_browsers_memory_goes_on(theatre: Theatre) -> None:
    stage = theatre()
    stage.holding = True
    stage.write("ferry")
    stage.input.press("Enter")
    stage.wait_for_questions(1)
    with stage.page.expect_event("requestfailed"):
        stage.page.evaluate("() => { dispatchEvent(new PageTransitionEvent('pagehide', {persisted: true})) }")
    stage.holding = False
    stage.page.evaluate("() => { dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true})) }")
    expect(stage.options).to_have_count(3)

    assert [asked["query"] for asked in stage.asked] == ["ferry", "ferry"]


def test_what_was_about_to_be_asked_is_asked_when_the_page_is_taken_up_again(theatre: Theatre) -> None:
    stage = theatre(clock=True)
    stage.write("ferry")
    stage.page.evaluate("() => { dispatchEvent(new PageTransitionEvent('pagehide', {persisted: true})) }")
    stage.go_on(1_000)
    assert stage.asked == []
    stage.page.evaluate("() => { dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true})) }")
    expect(stage.options).to_have_count(3)


def test_its_version_can_be_read(theatre: Theatre) -> None:
    stage = theatre()
    version = stage.page.evaluate("customElements.get('knowledge-search').version")

    assert re.fullmatch(r"1\.\d+\.\d+", version)
    assert stage.part("box").get_attribute("data-version") == version


def test_the_document_pins_the_script_as_it_is_built() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")

    assert integrity_of(present_script()) in text
    assert pinned_name(present_script()) in text
    assert text == with_present_build(text, present_script()), "run `make faces`"


def test_the_document_names_every_part_and_property(theatre: Theatre) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    script = present_script().decode()
    used = {*re.findall(r"var\((--ks-[a-z-]+)", script), *re.findall(r'part:"([a-z-]+)"', script)}
    assert {"--ks-accent", "option", "trigger"} < used

    assert [name for name in sorted(used) if f"`{name}`" not in text] == []
    assert [name for name in re.findall(r"`(--ks-[a-z-]+)`", text) if name not in used] == []
    attributes = theatre().page.evaluate("customElements.get('knowledge-search').observedAttributes")
    assert [name for name in attributes if f"`{name}`" not in text] == []
