"""Making text plain and cutting it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.language_tags import is_language_tag
from shared.domain.plain_text import cut, plain


def test_tabs_and_line_feeds_stay_and_other_control_characters_go() -> None:
    assert plain("a\tb\nc\r\nd\re\x00f\x1b[31mg\x7fh\x85i") == "a\tb\nc\nd\nef[31mghi"


@given(st.text(alphabet="ab\t\n\r\x00\x1f\x7f\x85é"))
def test_text_of_any_letters_is_made_plain_alike(text: str) -> None:
    kept = [c for c in text.replace("\r\n", "\n").replace("\r", "\n") if c in "ab\t\né"]
    assert plain(text) == "".join(kept)


def test_text_in_any_script_stays_as_it_is() -> None:
    text = "Fähre 渡輪 قارب 👩‍🚀 e\u0301\u200c"
    assert plain(text) == text


def test_a_short_text_is_not_cut() -> None:
    assert cut("abc", limit=3) == "abc"


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("abcdef", 4, "abcd"),
        ("渡輪卡渡輪卡", 4, "渡輪卡渡"),
        ("cafe\u0301s", 4, "caf"),
        ("ab👩‍🚀cd", 3, "ab"),
        ("ab👩‍🚀cd", 4, "ab"),
        ("ab👍🏽cd", 3, "ab"),
        ("ab☎\ufe0fcd", 3, "ab"),
        ("😀😀😀", 2, "😀😀"),
    ],
)
def test_a_letter_keeps_its_accents_and_an_emoji_its_parts(text: str, limit: int, kept: str) -> None:
    assert cut(text, limit=limit) == kept


def test_a_pile_of_accents_is_cut_all_the_same() -> None:
    assert cut("a" + "\u0301" * 500, limit=100) == "a" + "\u0301" * 99


@given(st.text(max_size=200), st.integers(1, 100))
def test_a_cut_text_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    shorter = cut(text, limit=limit)
    assert text.startswith(shorter)
    assert len(shorter) <= limit
    assert len(shorter) >= min(len(text), limit) - 32


@pytest.mark.parametrize("tag", ["de", "de-DE", "zh-Hant-TW", "x-house", "i-klingon", "sl-rozaj-biske", "de-1996"])
def test_a_language_tag_is_known_by_its_shape(tag: str) -> None:
    assert is_language_tag(tag)


@pytest.mark.parametrize(
    "text", ["", "d", "de_DE", "de-", "-de", "de--DE", "deutschland", "de-ÄÖ", "*", "de DE", "de-" + "a-" * 30 + "b"]
)
def test_what_is_no_language_tag_is_refused(text: str) -> None:
    assert not is_language_tag(text)
