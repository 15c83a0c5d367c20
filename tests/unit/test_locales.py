from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.locales import common_locale, is_fallback, matches

subtags = st.text(alphabet="abcdefgHIJK019", min_size=1, max_size=8)
tags = st.lists(subtags, min_size=1, max_size=4).map("-".join)


@pytest.mark.parametrize(
    ("wanted", "given_", "expected"),
    [
        ("de", "de", True),
        ("de", "de-AT", True),
        ("DE", "de-at", True),
        ("zh-Hant", "zh-Hant-TW", True),
        ("*", "fr", True),
        ("de-AT", "de", False),
        ("de", "den", False),
        ("de-A", "de-AT", False),
        ("zh-TW", "zh-Hant-TW", False),
    ],
)
def test_a_range_matches_a_tag_that_is_equal_or_continues_it(wanted: str, given_: str, expected: bool) -> None:
    assert matches(wanted, given_) is expected


@given(tags, tags)
def test_every_tag_lies_within_itself_and_within_its_beginnings(first: str, rest: str) -> None:
    assert matches(first, first.swapcase())
    assert matches(first, f"{first}-{rest}")
    assert not matches(f"{first}-{rest}", first)


@pytest.mark.parametrize(
    ("wanted", "given_", "expected"),
    [("en", "en-GB", False), ("en-GB", "en", True), ("de", "en", True), (None, "en", None), ("en", None, None)],
)
def test_a_fallback_is_known_only_when_both_locales_are(wanted: str, given_: str, expected: bool | None) -> None:
    assert is_fallback(wanted, given_) is expected


@pytest.mark.parametrize(
    ("locales", "expected"),
    [
        (["de", "DE", "de"], "de"),
        (["de", "de-AT"], None),
        (["de", None], None),
        ([None, None], None),
        ([], None),
    ],
)
def test_the_returned_locale_is_the_one_that_all_share(locales: list[str | None], expected: str | None) -> None:
    assert common_locale(locales) == expected
