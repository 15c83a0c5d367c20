"""What comes from an answer is shown as text, whatever it is, and leads only where a link may lead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.widget_stage import Stage, Theatre, element, result

HOSTILE = (
    "Fern <img src=x onerror=alert(1)>",
    "<b>x</b><script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "</span></a><iframe srcdoc='<script>alert(1)</script>'>",
    "{{constructor.constructor('alert(1)')()}} ${alert(1)} &lt;i&gt;",
    "<style>*{display:none}</style><mark>m</mark>",
    "javascript:alert(1)",
)
CITATIONS = Path(__file__).resolve().parents[2] / "fixtures" / "addresses" / "citations.json"
NO_LINKS = (
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "java\nscript:alert(1)",
    "\u0001javascript:alert(1)",
    " https://ok.example.com/",
    "ht\ntps://ok.example.com/",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "blob:https://ok.example.com/1",
    "//evil.test/x",
    "/only/a/path",
    "https:evil",
    "https:/evil.test",
    "https:\\\\evil.test",
    "https://ok.test\\@evil.test/",
    'https://ok.test/"onmouseover=x',
    "https://user:pw@ok.test/",
    "https://@ok.test/",
    "https://ok.test@evil.test/",
    "https://",
    "https://exa mple.com/",
    "https://ok.test/\u202egpj.exe",
    "https://ok\u00ad.test/",
    "https://ok.test:99999/",
    "https://ok.test/" + "a" * 2048,
)
LINKS = {
    "https://help.example.com/a?b=c&d='e'#f": "https://help.example.com/a?b=c&d=%27e%27#f",
    "http://help.example.com": "http://help.example.com/",
    "HTTPS://HELP.EXAMPLE.COM/Fähre": "https://help.example.com/F%C3%A4hre",
    "https://bücher.example.com/x": "https://xn--bcher-kva.example.com/x",
    "https://help.example.com:8443/@team/x": "https://help.example.com:8443/@team/x",
}


@pytest.fixture
def stage(theatre: Theatre) -> Stage:
    stage = theatre()
    stage.page.evaluate("() => { window.alert = () => console.error('a script of theirs ran') }")
    return stage


def elements_of(stage: Stage) -> list[str]:
    """The kinds of elements that the list and the message hold."""
    names: list[str] = stage.page.evaluate(
        "[...new Set([...document.querySelector('knowledge-search').shadowRoot"
        ".querySelectorAll('[part=popup] *')].map((e) => e.localName))].sort()"
    )
    return names


def test_markup_in_titles_and_snippets_is_read_as_it_is_written(stage: Stage) -> None:
    stage.answer(*(result(text, snippet=text, url=None, locale=text) for text in HOSTILE))
    stage.page.evaluate("document.querySelector('knowledge-search').limit = 10")
    stage.search("qqq")

    expect(stage.part("title")).to_have_text(list(HOSTILE))
    expect(stage.part("snippet")).to_have_text(list(HOSTILE))
    assert elements_of(stage) == ["button", "div", "p", "span"]
    assert [option.get_attribute("lang") for option in stage.part("title").all()] == [None] * len(HOSTILE)


def test_a_query_is_echoed_as_it_was_written(stage: Stage) -> None:
    stage.answer()
    for query in HOSTILE:
        stage.search(query)

        expect(stage.message).to_contain_text(f"Nothing found for “{query}”")
        assert elements_of(stage) == ["bdi", "button", "div", "p"]
        assert stage.asked[-1]["query"] == query
    expect(stage.page.get_by_role("status").first).to_have_text(f"Nothing found for “{HOSTILE[-1]}”")


def test_only_absolute_web_addresses_without_userinfo_become_links(stage: Stage) -> None:
    for texts in (NO_LINKS[:10], NO_LINKS[10:20], NO_LINKS[20:]):
        stage.answer(*(result(f"T{index}", url=url) for index, url in enumerate(texts)))
        stage.page.evaluate("document.querySelector('knowledge-search').limit = 10")
        stage.search(f"ferry {texts[0][:5].strip()}")

        expect(stage.options).to_have_count(len(texts))
        assert stage.page.locator("a[part=option]").count() == 0
        expect(stage.part("no-link")).to_have_count(len(texts))


def test_a_link_is_what_the_browser_understood_and_what_was_judged(stage: Stage) -> None:
    stage.answer(*(result(url=url) for url in LINKS))
    stage.search()

    links = [link.evaluate("(a) => [a.href, a.rel, a.target]") for link in stage.options.all()]
    assert links == [[url, "noopener noreferrer", "_self"] for url in LINKS.values()]


def test_no_citation_that_the_gateway_shows_is_refused(stage: Stage) -> None:
    shown = [case["shown"] for case in json.loads(CITATIONS.read_text()) if case["shown"] and len(case["shown"]) < 2048]
    assert shown
    for start in range(0, len(shown), 10):
        urls = shown[start : start + 10]
        stage.answer(*(result(f"{start}", url=url) for url in urls))
        stage.page.evaluate("document.querySelector('knowledge-search').limit = 10")
        stage.search(f"page {start}")

        expect(stage.page.locator("a[part=option]")).to_have_count(len(urls))


def test_a_result_without_a_link_opens_nothing(stage: Stage) -> None:
    stage.answer(result(url=None))
    stage.search()
    stage.page.keyboard.press("ArrowDown")
    stage.page.keyboard.press("Enter")
    stage.options.click()

    expect(stage.options).to_have_count(1)
    assert stage.page.url.endswith("/page")


def test_marks_that_turn_text_around_stay_within_their_text(stage: Stage) -> None:
    stage.answer(result("\u202eevil\u2066", snippet="\u202e\u202e\u202eabc", url="https://help.example.com/"))
    stage.search("qqq")

    directions = "(e) => getComputedStyle(e).unicodeBidi"
    for part in ("title", "snippet", "host"):
        assert stage.part(part).evaluate(directions) == "isolate"


def test_long_texts_are_cut_and_never_within_a_character(stage: Stage) -> None:
    stage.answer(result("𐐷" * 5000, snippet="e\u0301" * 5000, url=None))
    stage.search("qqq")

    assert stage.part("title").inner_text() == "𐐷" * 199 + "…"
    assert len(stage.part("snippet").inner_text()) <= 320


def test_a_snippet_takes_three_lines_at_most(stage: Stage) -> None:
    stage.page.evaluate("() => { document.querySelector('knowledge-search').style.width = '400px' }")
    stage.answer(result(snippet="A ferry that does not sail. " * 20), result(snippet="Short."))
    stage.search()

    heights = [part.bounding_box()["height"] for part in stage.part("snippet").all()]  # type: ignore[index]
    assert heights[0] == pytest.approx(3 * heights[1], rel=0.05)


def test_never_more_results_than_were_asked_for(theatre: Theatre) -> None:
    stage = theatre(element(limit="2"))
    stage.answer(*(result(f"T{index}") for index in range(9)))
    stage.search()

    assert stage.asked[-1]["limit"] == 2
    expect(stage.part("title")).to_have_text(["T0", "T1"])


def test_host_and_foreign_language_are_shown(stage: Stage) -> None:
    stage.answer(result(), result(locale="zh-CN", url="https://xn--bcher-kva.example.com/x"), result(locale="xx-xx-xx"))
    stage.search()

    texts = [" ".join(meta.inner_text().split()) for meta in stage.part("meta").all()]
    assert texts == ["help.example.com", "xn--bcher-kva.example.com Chinese (China)", "help.example.com"]
    assert stage.part("title").nth(1).get_attribute("lang") == "zh-CN"


MARKED: tuple[tuple[str, str, list[str]], ...] = (
    ("ferry PASS", "A Ferry pass, passes, surpass; ferry-pass", ["Ferry", "pass", "pass", "ferry", "pass"]),
    ("a.* (b", "a.* (b aab", []),
    ("straße", "Die Straße, strasse", ["Straße"]),
    ("i", "I i İ ı", ["I", "i"]),
    ("轮渡通行证", "夜间轮渡通行证适用", ["轮渡通行证"]),
    ("船票 价格", "价格与船票", ["价格", "船票"]),
    ("تذكرة", "التذكرة وتذكرتي", ["التذكرة"]),
    ("fahre", "Fa\u0308hre fahre", ["fahre"]),
    ("pass", "<b>pass</b>", ["pass"]),
)


def test_words_of_the_query_are_marked(stage: Stage) -> None:
    stage.page.evaluate("document.querySelector('knowledge-search').minLength = 1")
    for query, text, marked in MARKED:
        stage.answer(result("-", snippet=text))
        stage.search(query)

        expect(stage.part("snippet")).to_have_text(text)
        assert stage.page.locator("mark").all_inner_texts() == marked, query


MALFORMED: dict[str, Any] = {
    "no JSON": "<html>",
    "NaN": '{"results": [NaN]}',
    "empty": "",
    "a list": [],
    "null": "null",
    "no results": {"result": []},
    "results an object": {"results": {"length": 1}},
    "a number for a title": {"results": [result(title=7)]},  # type: ignore[arg-type]
    "no url": {"results": [{"title": "T", "snippet": "S"}]},
    "an object for a url": {"results": [result(url={"href": "https://help.example.com"})]},
    "a result that is none": {"results": [result(), None]},
}


def test_what_is_no_answer_of_the_gateway_is_not_shown(stage: Stage) -> None:
    for name, body in MALFORMED.items():
        stage.answer(result())
        stage.search(f"before {name}")
        expect(stage.options).to_have_count(1)
        stage.reply(body)
        stage.search(name)

        expect(stage.message, name).to_contain_text("temporarily unavailable")
        assert stage.options.count() == 0
