from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from shared.domain.names import MAX_NAME_CHARACTERS, checked_name, name_key
from shared.web.fields import Name

INVISIBLE = [
    "\u200b", "\ufeff", "\u3164", "\u115f", "\u1160", "\uffa0", "\u061c", "\u200e", "\u200f", "\u00ad", "\u034f",
    "\u180e", "\u200c", "\u200d", "\u2060", "\u2063", "\u2800", "\ufe0f", "\U000e0041", "\U000e0100", "\ufff9",
    "\u0301",
]  # fmt: skip
HELP_CENTRE = [
    "help centre",
    "HELP CENTRE",
    "Help\u00a0centre",
    "Help\u2003centre",
    "Help  centre",
    " Help centre ",
    "Help centre\u200b",
    "\ufeffHelp centre",
    "He\u00adlp cen\u2060tre",
    "Help \u200d centre",
    "Help\u200b\u00a0\u200bcentre",
    "Help\u3164centre",
    "Help centre\u1160",
    "Help centre\ufe0f",
    "\u200eHelp centre\u200e",
    "\u061cHelp centre",
    "Ｈelp centre",
    "Ｈｅｌｐ　ｃｅｎｔｒｅ",
    "𝐇elp centre",
]


@pytest.mark.parametrize("character", INVISIBLE, ids=ascii)
def test_a_name_of_invisible_characters_alone_is_none(character: str) -> None:
    for text in (character, f" {character}\u00a0{character} ", "".join(INVISIBLE)):
        with pytest.raises(ValueError, match="visible"):
            checked_name(text)


@pytest.mark.parametrize("name", ["x", "渡", "é", "e\u0301", "?", "🛳", "١", "\ue000", "\u0600", "ᄀ", "한", "x\u200b"])
def test_one_visible_character_is_a_name(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize("name", HELP_CENTRE, ids=ascii)
def test_a_name_that_looks_the_same_is_the_same(name: str) -> None:
    assert name_key(name) == name_key("Help centre")


@pytest.mark.parametrize(
    "name", ["Helpcentre", "Help-centre", "Help centre 2", "Help center", "Hélp centre"], ids=ascii
)
def test_a_name_that_looks_different_is_another(name: str) -> None:
    assert name_key(name) != name_key("Help centre")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("Café", "CAFE\u0301"),
        ("e\u200b\u0301", "é"),
        ("ﬁnance", "Finance"),
        ("②", "2"),
        ("ſ", "S"),
    ],
    ids=ascii,
)
def test_spellings_of_one_name_are_one(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


# U+FDFA is written out as eighteen characters.
@given(st.text(min_size=1, max_size=MAX_NAME_CHARACTERS))
@example("\ufdfa" * MAX_NAME_CHARACTERS)
@example("\u1e9e\u0345\u0301\u0399")
@example("\u00a8\u3164")
def test_the_key_of_any_name_fits_a_row_and_is_its_own_key(text: str) -> None:
    try:
        name = checked_name(text)
    except ValueError:
        return
    key = name_key(name)
    assert 0 < len(key.encode()) <= 900
    assert name_key(key) == key


def test_long_keys_are_still_told_apart() -> None:
    long = "\ufdfa" * (MAX_NAME_CHARACTERS - 1)
    assert name_key(long + "a") == name_key(long + "A") != name_key(long + "b")


@given(st.text(min_size=1, max_size=5))
@example("\u3164")
@example("x")
def test_the_published_pattern_takes_every_name(text: str) -> None:
    pattern = TypeAdapter(Name).json_schema()["pattern"]
    try:
        name = checked_name(text)
    except ValueError:
        return
    assert re.search(pattern, name)


@pytest.mark.parametrize("character", [one for one in INVISIBLE if one < "\U00010000" and one != "\u0301"], ids=ascii)
def test_the_published_pattern_names_the_invisible_characters(character: str) -> None:
    pattern = json.loads(json.dumps(TypeAdapter(Name).json_schema()))["pattern"]
    assert re.search(pattern, character) is None
    assert re.search(pattern, character + "x")
