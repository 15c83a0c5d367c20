"""Keys made comparable, and what is refused at the door."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.card_rows import Row
from shared.domain.cards import (
    MAX_DERIVED_KEYS,
    OTHER_WHITE_SPACE,
    card_id_of_row,
    collection_exposure,
    derived_keys,
    is_card_id,
    new_card_id,
    new_collection_id,
    norm,
)
from shared.domain.exposure import ExposureProfile
from shared.errors import Invalid
from tests.support.card_builders import a_card, a_collection

UNSTABLE = "ẞ\u0323"  # case-folding parts it, and the dot then joins the second s


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("Ferry Pass", "ferry pass"),
        ("ＦＥＲＲＹ　ＰＡＳＳ", "ferry pass"),
        ("ferry\u00a0pass", "ferry pass"),
        ("ferry\u3000pass", "ferry pass"),
        (" ferry \t\n pass ", "ferry pass"),
        ("ferry\u2028pass", "ferry pass"),
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("ẞ", "ss"),
        ("İ", "i\u0307"),
        ("ﬃ", "ffi"),
        ("ŉ", "ʼn"),
        ("Å", "å"),
        ("A\u030a", "å"),
        ("ｶｰﾄﾞ", "カード"),
        ("カード", "カード"),
        ("①", "1"),
        ("㎏", "kg"),
        ("ﷺ", "صلى الله عليه وسلم"),
        (unicodedata.normalize("NFD", "카드"), "카드"),
        ("𠮷野家", "𠮷野家"),
        ("𰻞面", "𰻞面"),
        ("บัตร", "บัตร"),
        ("👩‍👩‍👧", "👩‍👩‍👧"),
        ("👍🏽", "👍🏽"),
        ("…", "..."),
        ("！！", "!!"),
        ("", ""),
        ("\u3000 \t", ""),
    ],
)
def test_the_normal_form_of_a_key(written: str, normal: str) -> None:
    assert norm(written) == normal


@pytest.mark.parametrize(
    "text", ["fer\u00adry pass", "ferry\u200bpass", "\ufeffferry pass", "می\u200cخواهم", "\u200b", "क\u200d"]
)
def test_format_characters_stay(text: str) -> None:
    assert norm(text) == text


@given(st.text())
def test_the_normal_form_has_neither_white_space_at_its_ends_nor_runs_of_it(text: str) -> None:
    normal = norm(text)
    assert normal == normal.strip()
    assert normal == " ".join(normal.split())


def test_all_white_space_is_known() -> None:
    """Or a text with one that is not would be taken for single-spaced."""
    left = {c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.normalize("NFKC", c).casefold().isspace()}
    forms = {form for c in left for form in unicodedata.normalize("NFKC", c)}
    assert forms - {" "} == set(OTHER_WHITE_SPACE)


@given(st.text(alphabet="a \t\n\u00a0\u2028\u3000\x1f卡"))
def test_white_space_is_what_splits_a_text(text: str) -> None:
    assert norm(text) == " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def test_a_key_whose_normal_form_has_another_is_found_under_both() -> None:
    assert (norm(UNSTABLE), norm(norm(UNSTABLE))) == ("ss\u0323", "s\u1e63")
    assert derived_keys([UNSTABLE]) == ("ss\u0323", "s\u1e63")


@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=8))
def test_derived_keys_are_ascending_once_each_and_cover_both_forms(keys: list[str]) -> None:
    try:
        derived = derived_keys(keys)
    except Invalid:
        assert any(not norm(key) or not norm(norm(key)) for key in keys)
        return
    assert list(derived) == sorted(set(derived))
    assert {norm(key) for key in keys} | {norm(norm(key)) for key in keys} == set(derived)


def test_spellings_of_one_key_are_one_derived_key() -> None:
    assert derived_keys(["Ferry Pass", "ＦＥＲＲＹ ＰＡＳＳ", "ferry  pass", "ferry\u00a0pass"]) == ("ferry pass",)


@pytest.mark.parametrize("blank", ["", "   ", "\u3000", "\u2028\u2029", "\t\n"])
def test_a_key_of_nothing_but_white_space_is_refused(blank: str) -> None:
    with pytest.raises(Invalid) as refusal:
        derived_keys(["m4", blank])
    assert [one.pointer for one in refusal.value.violations] == ["/keys/1"]


@pytest.mark.parametrize("key", ["卡", "！！", "\u200b", "👍🏽", "…"])
def test_a_key_of_one_visible_or_format_character_is_a_key(key: str) -> None:
    assert derived_keys([key]) == (norm(key),)


def test_a_key_that_swells_beyond_what_the_store_takes_is_refused() -> None:
    with pytest.raises(Invalid) as refusal:
        derived_keys(["m4", "ﷺ" * 60])
    assert [one.pointer for one in refusal.value.violations] == ["/keys/1"]
    assert "ﷺ" not in refusal.value.violations[0].detail
    assert derived_keys(["x" * 1024])


def test_too_many_derived_keys_are_refused() -> None:
    keys = [f"{UNSTABLE}{number}" for number in range(MAX_DERIVED_KEYS // 2 + 1)]
    with pytest.raises(Invalid) as refusal:
        derived_keys(keys)
    assert [one.pointer for one in refusal.value.violations] == ["/keys"]
    assert len(derived_keys(keys[:-1])) == MAX_DERIVED_KEYS


def test_a_collections_id_names_its_exposure_profile() -> None:
    for profile in ExposureProfile:
        assert collection_exposure(new_collection_id(profile)) is profile
    for malformed in ("", "csc_", "cs_aaaaaaaaaaaaaaaa", "csc_AAAAAAAAAAAAAAAA", "csc_aaaaaaaaaaaaaaaa\n"):
        assert collection_exposure(malformed) is None


def test_a_row_of_an_import_has_the_same_id_each_time() -> None:
    collection = a_collection()
    first = card_id_of_row(collection.id, "row 7")
    assert is_card_id(first)
    assert is_card_id(new_card_id())
    assert card_id_of_row(collection.id, "row 7") == first
    assert card_id_of_row(collection.id, "row 8") != first
    assert card_id_of_row(a_collection().id, "row 7") != first


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("t\0a", ("b",)), ("t", ("a", "b"))),
        (("t", ("a\0b",)), ("t", ("a", "b"))),
        (("", ("a",)), ("a", ("a",))),
        (('t", "a', ("b",)), ("t", ("a", "b"))),
    ],
)
def test_rows_with_other_titles_and_keys_are_other_cards(
    one: tuple[str, tuple[str, ...]], other: tuple[str, tuple[str, ...]]
) -> None:
    collection = a_collection()
    first, second = (
        Row(number=1, row_id=None, title=title, keys=keys, body="").card_in(collection.id).id
        for title, keys in (one, other)
    )
    assert first != second


def test_an_empty_title_shows_the_first_key() -> None:
    assert a_card(a_collection(), "M4", "m5", title="").shown_title == "M4"
    assert a_card(a_collection(), "M4", title="Bolts").shown_title == "Bolts"
