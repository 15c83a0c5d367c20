"""What a visitor is told when there is no answer, and when the widget asks again."""

from __future__ import annotations

import pytest
from playwright.sync_api import ConsoleMessage, expect

from tests.browser.widget_stage import KEY, Stage, Theatre, result

# An answer without any such header gets one from Playwright.
FOR_SOMEBODY_ELSE = {"Access-Control-Allow-Origin": "https://nobody.example"}


@pytest.fixture
def timed(theatre: Theatre) -> Stage:
    return theatre(clock=True)


def test_a_limit_is_waited_out_and_tried_again_once(timed: Stage) -> None:
    timed.refuse(429, "rate_limited", Retry_After="30")
    timed.write("ferry")
    timed.go_on(300)
    expect(timed.message).to_have_text("Too many searches at once. Trying again in 30 seconds.")
    assert timed.part("retry").count() == 0
    timed.page.keyboard.type("s")
    timed.page.keyboard.press("Enter")
    timed.go_on(29_000)
    assert timed.queries == ["ferry"], "nothing is asked before its time, whatever is written"
    timed.go_on(2_000)
    expect(timed.part("retry")).to_have_text("Try again")
    expect(timed.message).to_contain_text("Please wait a while")
    timed.go_on(300_000)
    assert timed.queries == ["ferry", "ferrys"], "by itself it tries once"

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
    stage.note_events()
    for status, code, words in (
        (503, "store_unavailable", "temporarily unavailable"),
        (403, "forbidden", "not available on this page"),
        (500, "internal_error", "temporarily unavailable"),
        (404, "not_found", "not available on this page"),
        (405, "method_not_allowed", "not available on this page"),
        (401, "unauthenticated", "not available on this page"),
        (422, "invalid_request", "temporarily unavailable"),
    ):
        stage.refuse(status, code)
        stage.search(f"ferry {status}")
        expect(stage.message).to_contain_text(words)
        assert "title that nobody sees" not in stage.page.content() + stage.part("popup").inner_text()
    told = [(detail["reason"], detail["status"]) for detail in stage.page.evaluate("told")]
    assert told == [
        ("unavailable", 503), ("refused", 403), ("unavailable", 500), ("refused", 404), ("refused", 405),
        ("refused", 401), ("unavailable", 422),
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


def test_a_redirect_is_not_followed_and_nothing_is_taken_from_or_left_in_a_cache(theatre: Theatre) -> None:
    """A browser follows a redirect past any gateway that a test can speak for: what it is told is looked at."""
    stage = theatre()
    stage.page.evaluate("() => { const { fetch } = window; window.fetch = (url, how) => fetch(url, window.how = how) }")
    stage.search()
    expect(stage.options).to_have_count(3)

    told = stage.page.evaluate("(({redirect, cache, credentials}) => [redirect, cache, credentials])(how)")
    assert told == ["error", "no-store", "omit"]


def test_a_limit_is_of_one_key_and_the_page_is_told_of_it_once(timed: Stage) -> None:
    timed.note_events()
    timed.refuse(429, "rate_limited", Retry_After="60")
    timed.search("ferry")
    for query in ("ferries", "refund"):
        timed.search(query)
        expect(timed.message).to_contain_text("Trying again in 60 seconds")
    assert timed.page.evaluate("told") == [{"reason": "limited", "status": 429}]
    timed.answer(result())
    timed.page.evaluate("(key) => { document.querySelector('knowledge-search').key = key }", KEY.replace("a2", "b3"))
    expect(timed.options).to_have_count(1)

    assert timed.queries == ["ferry", "refund"]
