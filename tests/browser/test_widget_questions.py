"""When the widget asks, what it sends, which answer counts, and what a visitor is told when there is none."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import ConsoleMessage, expect

from tests.browser.widget_stage import API, KEY, RESULTS, SEARCH, Stage, Theatre, element, result

# An answer without any such header gets one from Playwright.
FOR_SOMEBODY_ELSE = {"Access-Control-Allow-Origin": "https://nobody.example"}


@pytest.fixture
def timed(theatre: Theatre) -> Stage:
    """A page whose time stands still until it is told to go on."""
    return theatre(clock=True)


def queries(stage: Stage) -> list[str]:
    return [asked["query"] for asked in stage.asked]


def go_on(stage: Stage, ms: int) -> None:
    """Lets the page's time run, and lets what was sent arrive."""
    stage.page.clock.run_for(ms)
    stage.page.evaluate(
        "() => new Promise((resolve) => { const c = new MessageChannel();"
        " c.port1.onmessage = resolve; c.port2.postMessage(0) })"
    )


def errors_told(stage: Stage) -> None:
    stage.page.evaluate(
        """() => { window.told = []; for (const name of ["results", "error"])
        document.addEventListener(`knowledge-search:${name}`, ({detail}) => window.told.push(detail)) }"""
    )


def test_one_question_for_a_word_and_nothing_but_what_is_needed_in_it(timed: Stage) -> None:
    timed.write("ferry")
    go_on(timed, 200)
    assert timed.asked == []
    go_on(timed, 50)
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
        go_on(timed, 1_000)
        timed.page.keyboard.press("Enter")
    go_on(timed, 1_000)
    assert timed.asked == []
    assert timed.part("popup").count() == 0


def test_one_han_character_is_a_word(timed: Stage) -> None:
    timed.input.fill("船")
    go_on(timed, 300)
    expect(timed.options.first).to_be_visible()

    assert queries(timed) == ["船"]


def test_what_the_gateway_would_refuse_is_tidied_before(timed: Stage) -> None:
    timed.page.evaluate(
        "() => { document.querySelector('knowledge-search').search('a\\u0000b\\tc\\ud800  ' + '😀'.repeat(200)) }"
    )
    expect(timed.options.first).to_be_visible()

    query = queries(timed)[0]
    assert query.startswith("a b c 😀")
    assert len(query.encode("utf-16-le")) // 2 <= 300
    assert not any("\ud800" <= character <= "\udfff" for character in query)


def test_a_slow_answer_to_an_earlier_query_never_shows(timed: Stage) -> None:
    timed.holding = True
    timed.write("fer")
    go_on(timed, 300)
    timed.wait_for_questions(1)
    timed.page.keyboard.type("ry")
    go_on(timed, 300)
    timed.wait_for_questions(2)
    assert queries(timed) == ["fer", "ferry"]
    timed.release(1, result("For ferry"))
    expect(timed.part("title")).to_have_text(["For ferry"])
    go_on(timed, 800)
    timed.release(0, result("For fer"))
    go_on(timed, 800)

    expect(timed.part("title")).to_have_text(["For ferry"])


def test_the_earlier_request_is_given_up(timed: Stage) -> None:
    timed.holding = True
    timed.write("fer")
    go_on(timed, 300)
    timed.wait_for_questions(1)
    with timed.page.expect_event("requestfailed") as given_up:
        timed.page.keyboard.type("ry")

    assert given_up.value.failure == "net::ERR_ABORTED"
    assert timed.message.count() == 0


def test_going_back_to_the_words_that_are_answered_asks_nothing_again(timed: Stage) -> None:
    timed.write("ferry")
    go_on(timed, 300)
    expect(timed.options).to_have_count(3)
    timed.page.keyboard.type("s")
    timed.page.keyboard.press("Backspace")
    timed.page.keyboard.type(" ")
    go_on(timed, 2_000)

    assert queries(timed) == ["ferry"]
    expect(timed.options).to_have_count(3)


def test_loading_shows_late_and_slowness_is_told(timed: Stage) -> None:
    timed.holding = True
    timed.write("ferry")
    go_on(timed, 230)
    go_on(timed, 200)
    assert timed.message.count() == 0
    go_on(timed, 100)
    expect(timed.message).to_have_text("Searching…")
    go_on(timed, 2_400)
    expect(timed.message).to_contain_text("Still searching")
    assert timed.said == ""
    go_on(timed, 800)
    assert timed.said.startswith("Still searching")
    timed.release(0, *RESULTS)
    expect(timed.options).to_have_count(3)
    assert timed.message.count() == 0


def test_earlier_results_stay_until_newer_ones_come(timed: Stage) -> None:
    timed.write("ferry")
    go_on(timed, 300)
    expect(timed.options).to_have_count(3)
    timed.holding = True
    timed.page.keyboard.type("s")
    go_on(timed, 600)

    expect(timed.options).to_have_count(3)
    expect(timed.part("list")).to_have_attribute("aria-busy", "true")
    assert timed.message.count() == 0
    timed.release(0, result())
    expect(timed.options).to_have_count(1)
    assert timed.part("list").get_attribute("aria-busy") is None


def test_an_answer_that_never_comes_is_given_up_after_fifteen_seconds(timed: Stage) -> None:
    timed.holding = True
    timed.write("ferry")
    go_on(timed, 16_000)

    expect(timed.message).to_contain_text("temporarily unavailable")


def test_counts_are_read_out_once_the_visitor_has_come_to_rest(timed: Stage) -> None:
    timed.page.evaluate(
        """() => { const status = document.querySelector('knowledge-search').shadowRoot.querySelector('[role=status]');
        window.said = [];
        new MutationObserver(() => said.push(status.textContent)).observe(status, {childList: true}) }"""
    )
    for text in "ferry":
        timed.page.keyboard.type(text) if timed.focused() == "input" else timed.write(text)
        go_on(timed, 300)
    expect(timed.options).to_have_count(3)
    go_on(timed, 1_000)

    assert timed.page.evaluate("said.filter(Boolean)") == ["3 results"]


def test_a_limit_is_waited_out_and_tried_again_once(timed: Stage) -> None:
    timed.refuse(429, "rate_limited", Retry_After="30")
    timed.write("ferry")
    go_on(timed, 300)
    expect(timed.message).to_have_text("Too many searches at once. Trying again in 30 seconds.")
    assert timed.part("retry").count() == 0
    timed.page.keyboard.type("s")
    timed.page.keyboard.press("Enter")
    go_on(timed, 29_000)
    assert queries(timed) == ["ferry"], "nothing is asked before its time, whatever is written"
    go_on(timed, 2_000)
    expect(timed.part("retry")).to_have_text("Try again")
    expect(timed.message).to_contain_text("Please wait a while")
    go_on(timed, 300_000)
    assert queries(timed) == ["ferry", "ferrys"], "by itself it tries once"

    timed.answer(result())
    timed.part("retry").click()
    expect(timed.options).to_have_count(1)
    assert timed.focused() == "input"


WAITS = {
    "7": "7 seconds",
    "0": "1 second.",
    "86400": "120 seconds",
    "soon": "30 seconds",
    "Thu, 01 Jan 1970 00:00:00 GMT": "1 second.",
}


def test_the_time_to_come_back_is_taken_within_reason(theatre: Theatre) -> None:
    shown = []
    stage = theatre()
    in_45_s = str(stage.page.evaluate("new Date(Math.floor(Date.now() / 1000) * 1000 + 45_000).toUTCString()"))
    for told in (*WAITS, in_45_s):
        stage = theatre()
        stage.refuse(429, "rate_limited", Retry_After=told)
        stage.search()
        shown.append(stage.message.inner_text().partition(" again in ")[2])
    assert [text.startswith(words) for text, words in zip(shown, WAITS.values(), strict=False)] == [True] * len(WAITS)
    assert 30 <= int(shown[-1].split()[0]) <= 45


def test_without_a_connection_it_says_so_and_goes_on_when_there_is_one(theatre: Theatre) -> None:
    stage = theatre(offline=False)
    stage.page.context.set_offline(True)
    stage.search()
    expect(stage.message).to_contain_text("You are offline")
    assert stage.asked == []
    stage.page.context.set_offline(False)

    expect(stage.options).to_have_count(3)


def test_what_no_page_may_read_is_temporarily_unavailable_and_can_be_tried_again(theatre: Theatre) -> None:
    stage = theatre()
    for status in (429, 403, 413, 500, 504):
        stage.reply({"message": "made on the way"}, status=status, headers=FOR_SOMEBODY_ELSE)
        stage.search(f"ferry {status}")
        expect(stage.message).to_contain_text("temporarily unavailable")
    stage.fail()
    stage.search("ferry pass")
    expect(stage.message).to_contain_text("temporarily unavailable")
    stage.answer(result())
    stage.part("retry").click()
    expect(stage.options).to_have_count(1)
    stage.forget()


def test_each_failure_has_a_word_for_visitors_and_none_of_the_problems_own(theatre: Theatre) -> None:
    stage = theatre()
    errors_told(stage)
    for status, code, words in (
        (503, "store_unavailable", "temporarily unavailable"),
        (403, "forbidden", "not available on this page"),
        (500, "internal_error", "temporarily unavailable"),
        (404, "not_found", "not available on this page"),
        (422, "invalid_request", "temporarily unavailable"),
    ):
        stage.refuse(status, code)
        stage.search(f"ferry {status}")
        expect(stage.message).to_contain_text(words)
        assert "title that nobody sees" not in stage.page.content() + stage.part("popup").inner_text()
    told = [(detail["reason"], detail["status"]) for detail in stage.page.evaluate("told")]
    assert told == [
        ("unavailable", 503), ("refused", 403), ("unavailable", 500), ("refused", 404), ("unavailable", 422)
    ]  # fmt: skip


def test_what_could_not_be_read_is_explained_to_the_owner_who_alone_can_tell_why(theatre: Theatre) -> None:
    stage = theatre()
    stage.reply({}, status=403, headers=FOR_SOMEBODY_ELSE)
    with stage.page.expect_event("console", lambda message: message.type == "warning") as warning:
        stage.search()

    assert "origins" in warning.value.text
    assert "connect-src" in warning.value.text
    stage.forget()


def test_a_refusal_is_explained_to_the_owner_once_without_key_or_query(theatre: Theatre) -> None:
    stage = theatre()
    warnings: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "warning":
            warnings.append(message.text)

    stage.page.on("console", note)
    stage.refuse(403, "forbidden")
    for query in ("ferry", "refund"):
        stage.search(query)
        expect(stage.message).to_contain_text("not available on this page")
    stage.page.wait_for_timeout(0)
    stage.page.remove_listener("console", note)

    assert len(warnings) == 1
    assert "403" in warnings[0]
    assert stage.page.url.removesuffix("/page") in warnings[0]
    assert [word for word in (KEY, "ferry") if word in warnings[0]] == []


def test_a_redirect_is_not_followed(theatre: Theatre) -> None:
    stage = theatre()
    there = theatre.site.lay("/elsewhere", "{}", media_type="application/json", Access_Control_Allow_Origin="*")
    stage.reply("", status=307, headers={"Location": there, "Access-Control-Allow-Origin": "*"})
    stage.search()

    expect(stage.message).to_contain_text("temporarily unavailable")
    stage.forget()


def test_the_page_is_told_of_results_beyond_the_shadow_tree(theatre: Theatre) -> None:
    stage = theatre()
    errors_told(stage)
    stage.search("ferry")
    expect(stage.options).to_have_count(3)

    assert stage.page.evaluate("told") == [{"query": "ferry", "count": 3}]


def test_a_base_path_is_kept(theatre: Theatre) -> None:
    stage = theatre(element(api=f"{API}/kb/"))
    urls: list[str] = []
    stage.page.on("request", lambda request: urls.append(request.url))
    stage.search()

    assert urls == [SEARCH.replace("/api/", "/kb/api/")]
