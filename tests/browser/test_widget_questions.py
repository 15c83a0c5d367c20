"""When the widget asks, what it sends, which answer counts, and what a visitor is told when there is none."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.widget_stage import API, KEY, RESULTS, SEARCH, Stage, Theatre, element, result


@pytest.fixture
def timed(theatre: Theatre) -> Stage:
    """A page whose time stands still until it is told to go on."""
    return theatre(clock=True)


def test_one_question_for_a_word_and_nothing_but_what_is_needed_in_it(timed: Stage) -> None:
    timed.write("ferry")
    timed.go_on(200)
    assert timed.asked == []
    timed.go_on(50)
    expect(timed.options).to_have_count(3)

    assert timed.asked == [{"query": "ferry", "limit": 5, "locale": "en"}]
    sent = timed.sent[0]
    assert sent["authorization"] == f"Bearer {KEY}"
    assert sent["content-type"] == "application/json"
    assert sent["origin"] == timed.page.url.removesuffix("/page")
    assert not {"cookie", "referer"} & set(sent)


def test_nothing_is_kept_in_the_browser_and_no_cookie_is_sent_along(theatre: Theatre) -> None:
    stage = theatre()
    stage.page.context.add_cookies([{"name": "c", "value": "1", "url": API}])
    stage.search()
    stage.page.context.clear_cookies()

    assert "cookie" not in stage.sent[0]
    assert stage.page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    assert stage.page.evaluate(
        "async () => [(await indexedDB.databases()).length, (await caches?.keys?.())?.length ?? 0]"
    ) == [0, 0]


def test_the_language_is_the_elements_then_the_pages_and_no_language_is_sent_where_there_is_none(
    theatre: Theatre,
) -> None:
    sent: list[Any] = []
    for inside, lang in (
        (element(locale="de-AT"), "en"),
        (f"<div lang='fr'>{element()}</div>", "en"),
        (element(locale="no such tag!"), "pt-BR"),
        (element(), ""),
    ):
        stage = theatre(inside, lang=lang)
        stage.search()
        sent.append(stage.asked[0].get("locale"))
    assert sent == ["de-AT", "fr", "pt-BR", None]


def test_blanks_and_too_few_characters_ask_nothing(timed: Stage) -> None:
    for text in ("   ", "f", " f  ", "\u00a0\u3000"):
        timed.input.fill(text)
        timed.go_on(1_000)
        timed.page.keyboard.press("Enter")
    timed.go_on(1_000)
    assert timed.asked == []
    assert timed.part("popup").count() == 0


def test_one_han_character_is_a_word(timed: Stage) -> None:
    timed.input.fill("船")
    timed.go_on(300)
    expect(timed.options.first).to_be_visible()

    assert timed.queries == ["船"]


def test_what_the_gateway_would_refuse_is_tidied_before(timed: Stage) -> None:
    timed.page.evaluate(
        "() => { document.querySelector('knowledge-search').search('a\\u0000b\\tc\\ud800  ' + '😀'.repeat(200)) }"
    )
    expect(timed.options.first).to_be_visible()

    query = timed.queries[0]
    assert query.startswith("a b c 😀")
    assert len(query.encode("utf-16-le")) // 2 <= 300
    assert not any("\ud800" <= character <= "\udfff" for character in query)


def test_a_slow_answer_to_an_earlier_query_never_shows(timed: Stage) -> None:
    timed.holding = True
    timed.write("fer")
    timed.go_on(300)
    timed.wait_for_questions(1)
    timed.page.keyboard.type("ry")
    timed.go_on(300)
    timed.wait_for_questions(2)
    assert timed.queries == ["fer", "ferry"]
    timed.release(1, result("For ferry"))
    expect(timed.part("title")).to_have_text(["For ferry"])
    timed.go_on(800)
    timed.release(0, result("For fer"))
    timed.go_on(800)

    expect(timed.part("title")).to_have_text(["For ferry"])


def test_the_earlier_request_is_given_up(timed: Stage) -> None:
    timed.holding = True
    timed.write("fer")
    timed.go_on(300)
    timed.wait_for_questions(1)
    with timed.page.expect_event("requestfailed") as given_up:
        timed.page.keyboard.type("ry")

    assert given_up.value.failure == "net::ERR_ABORTED"
    assert timed.message.count() == 0


def test_going_back_to_the_words_that_are_answered_asks_nothing_again(timed: Stage) -> None:
    timed.write("ferry")
    timed.go_on(300)
    expect(timed.options).to_have_count(3)
    timed.page.keyboard.type("s")
    timed.page.keyboard.press("Backspace")
    timed.page.keyboard.type(" ")
    timed.go_on(2_000)

    assert timed.queries == ["ferry"]
    expect(timed.options).to_have_count(3)


def test_loading_shows_late_and_slowness_is_told(timed: Stage) -> None:
    timed.holding = True
    timed.write("ferry")
    timed.go_on(230)
    timed.go_on(200)
    assert timed.message.count() == 0
    timed.go_on(100)
    expect(timed.message).to_have_text("Searching…")
    timed.go_on(1_000)
    assert timed.said == ""
    timed.go_on(1_400)
    expect(timed.message).to_contain_text("Still searching")
    assert timed.said == ""
    timed.go_on(800)
    assert timed.said.startswith("Still searching")
    timed.release(0, *RESULTS)
    expect(timed.options).to_have_count(3)
    assert timed.message.count() == 0


def test_earlier_results_stay_until_newer_ones_come(timed: Stage) -> None:
    timed.write("ferry")
    timed.go_on(300)
    expect(timed.options).to_have_count(3)
    timed.holding = True
    timed.page.keyboard.type("s")
    timed.go_on(600)

    expect(timed.options).to_have_count(3)
    expect(timed.part("list")).to_have_attribute("aria-busy", "true")
    assert timed.message.count() == 0
    timed.release(0, result())
    expect(timed.options).to_have_count(1)
    assert timed.part("list").get_attribute("aria-busy") is None


def test_an_answer_that_never_comes_is_given_up_after_fifteen_seconds(timed: Stage) -> None:
    timed.holding = True
    timed.write("ferry")
    timed.go_on(16_000)

    expect(timed.message).to_contain_text("temporarily unavailable")


def test_counts_are_read_out_once_the_visitor_has_come_to_rest(timed: Stage) -> None:
    timed.page.evaluate(
        """() => { const status = document.querySelector('knowledge-search').shadowRoot.querySelector('[role=status]');
        window.said = [];
        new MutationObserver(() => said.push(status.textContent)).observe(status, {childList: true}) }"""
    )
    for text in "ferry":
        timed.page.keyboard.type(text) if timed.focused() == "input" else timed.write(text)
        timed.go_on(300)
    expect(timed.options).to_have_count(3)
    expect(timed.part("list")).not_to_have_attribute("aria-busy", "true")  # the last answer has come, however late
    timed.go_on(10_000)

    assert timed.page.evaluate("said.filter(Boolean)") == ["3 results"]
    timed.page.keyboard.type("s")
    assert timed.said == "", "what was counted is no longer what is written"


def test_the_page_is_told_of_results_beyond_the_shadow_tree(theatre: Theatre) -> None:
    stage = theatre()
    stage.note_events()
    stage.search("ferry")
    expect(stage.options).to_have_count(3)

    assert stage.page.evaluate("told") == [{"query": "ferry", "count": 3}]


def test_a_base_path_is_kept(theatre: Theatre) -> None:
    stage = theatre(element(api=f"{API}/kb/"))
    urls: list[str] = []
    stage.page.on("request", lambda request: urls.append(request.url))
    stage.search()

    assert urls == [SEARCH.replace("/api/", "/kb/api/")]
