"""Every key that occurs in a text and is not glued, in one pass: the boundary table, and against a naive oracle."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.adapters import automaton
from shared.adapters.automaton import MAX_NESTED, Automaton
from shared.adapters.vocabulary_copies import VocabularyCopy
from shared.domain.cards import derived_keys, norm
from shared.domain.matching import Occurrence
from tests.support.card_fakes import occurs
from tests.support.memory import extra_memory_bytes


def found(keys: list[str], text: str) -> set[str]:
    """Keys as written; what is found, in normal form."""
    ordered = derived_keys(keys)
    places = Automaton(ordered).occurring(norm(text))
    return {ordered[place] for place in places}


@pytest.mark.parametrize(
    ("key", "text", "is_found"),
    [
        ("m4", "an m40 bolt", False),
        ("m4", "an m4 bolt", True),
        ("m4", "M4", True),
        ("m4", "xm4", False),
        ("m4", "m4.", True),
        ("m4", "(m4)", True),
        ("m4", "m4_", False),
        ("m4", "_m4", False),
        ("m4", "m40 m4", True),
        ("m4", "", False),
        ("etch", "foobar_etch", False),
        ("etch", "foobar-etch", True),
        ("api", "用API查", True),
        ("api", "APIを使う", True),
        ("api", "API-key", True),
        ("api", "API2", False),
        ("api", "myAPI", False),
        ("api", "api_v2", False),
        ("封蓋", "請先檢查封蓋是否緊閉", True),
        ("封蓋", "abc封蓋def", True),
        ("封蓋", "封 蓋", False),
        ("ferry pass", "one Ferry   PASS please", True),
        ("ferry pass", "ferry\u00a0pass", True),
        ("ferry pass", "ferry\u3000pass", True),
        ("ferry pass", "ferry \t\n pass", True),
        ("ferry pass", "ferry passes", False),
        ("ferry pass", "ferrypass", False),
        ("ferry pass", "fer\u00adry pass", False),  # format characters stay, in keys and in texts
        ("ferry pass", "ferry\u200bpass", False),
        ("fer\u00adry pass", "a fer\u00adry pass", True),
        ("ferry pass", "\ufeffferry pass", True),  # not an ASCII word character, so no glue
        ("می\u200cخواهم", "من می\u200cخواهم بروم", True),
        ("ferry pass", "İstanbul ferry pass rules", True),
        ("i̇", "İ" * 200, True),
        ("ferry", "ẞ ŉ ΐ ﬃ ferry", True),
        ("ss", "ẞ ŉ ΐ ﬃ", True),
        ("ffi", "ẞ ŉ ΐ ﬃ", True),
        ("straße", "die STRASSE", True),
        ("STRASSE", "die straße", True),
        ("ＦＥＲＲＹ", "a ferry", True),
        ("ferry", "a ＦＥＲＲＹ", True),
        ("cafe", "café", False),
        ("cafe", "cafe\u0301", False),  # composed by the normal form
        ("café", "CAFE\u0301", True),
        ("ﬁn", "fin", True),
        ("カード", "このｶｰﾄﾞを", True),
        ("카드", "신용카드로", True),
        ("บัตร", "ใช้บัตรได้", True),
        ("𠮷野家", "在𠮷野家吃", True),
        ("𰻞面", "吃𰻞面", True),
        ("👩‍👩‍👧", "a 👩‍👩‍👧 ticket", True),
        ("👩", "a 👩‍👩‍👧 ticket", True),  # a joiner is no ASCII word character
        ("👍🏽", "ok👍🏽ok", True),
        ("c++", "in c++ and", True),
        ("c++", "c++11", True),  # `+` is no word character
        ("++c", "x++c", True),
        (".net", "asp.net", True),
        ("é", "été", True),
        ("a", "aé", True),
        ("a", "éa", True),
        ("1", "v1", False),
        ("1", "v.1", True),
    ],
)
def test_the_boundary_table(key: str, text: str, is_found: bool) -> None:
    assert bool(found([key], text)) is is_found


def test_overlapping_and_nested_keys_are_all_found() -> None:
    assert found(["night ferry", "ferry pass"], "night ferry pass") == {"night ferry", "ferry pass"}
    keys = ["pass", "ferry pass", "ferry pass holder"]
    for order in (keys, keys[::-1]):
        assert found(order, "ferry pass holder and pass") == set(keys)
    assert found(keys, "ferry pass holder") == set(keys)


def test_a_key_glued_in_one_place_is_found_in_another() -> None:
    assert found(["m4", "bolt"], "xm4 m40 m4x (m4) bolts") == {"m4"}


def test_no_keys_and_no_text() -> None:
    assert Automaton(()).occurring("m4") == set()
    assert found(["m4"], "") == set()


def test_keys_across_the_stretches_of_a_long_text() -> None:
    size = automaton._STRETCH_CHARACTERS
    for at in (size - 7, size - 1, size, size + 1, 2 * size - 3):
        text = "." * at + "ferry pass" + "." * size
        assert found(["ferry pass", "erry"], text) == {"ferry pass"}
        assert found(["ferry pass"], "." * (at - 1) + "xferry pass" + "." * size) == set()


_ALPHABETS = ["ab_ ", "a封蓋 ", "aB1_-. é", "封蓋卡", "İßﬃẞ aé\u0301\u200d👩", "aa卡"]
_words = st.sampled_from(_ALPHABETS).flatmap(lambda letters: st.text(alphabet=letters, min_size=1, max_size=6))


@settings(max_examples=400, deadline=None)
@given(st.lists(_words, min_size=1, max_size=12), st.lists(_words, max_size=20), st.sampled_from(["", " ", "卡", "_"]))
def test_it_agrees_with_the_plain_definition(keys: list[str], words: list[str], between: str) -> None:
    keys = [key for key in keys if norm(key) and norm(norm(key))]
    _agree(keys, between.join(words))


@settings(max_examples=400, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=8), st.text(max_size=40))
def test_it_agrees_over_all_of_unicode(keys: list[str], text: str) -> None:
    keys = [key for key in keys if norm(key) and norm(norm(key))]
    _agree(keys, text + "".join(keys) + text)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(_ALPHABETS), st.randoms(use_true_random=False), st.integers(1, 60))
def test_it_agrees_where_many_keys_begin_with_one_another(letters: str, chance: random.Random, length: int) -> None:
    stem = "".join(chance.choices(letters, k=MAX_NESTED + 4))
    keys = [stem[:end] for end in range(1, len(stem) + 1) if stem[:end].strip()]
    keys += ["".join(chance.choices(letters, k=chance.randint(1, 5))) for _ in range(5)]
    text = "".join(chance.choice([stem, stem[: chance.randint(1, 19)], chance.choice(letters)]) for _ in range(length))
    _agree([key for key in keys if norm(key) and norm(norm(key))], text)


@given(st.sampled_from(_ALPHABETS), st.randoms(use_true_random=False), st.booleans())
def test_a_copy_tells_each_key_with_its_cards(letters: str, chance: random.Random, nested: bool) -> None:
    stem = "".join(chance.choices(letters, k=MAX_NESTED + 4))
    some = ["".join(chance.choices(letters, k=chance.randint(1, 5))) for _ in range(12)]
    deep = [stem[:end] for end in range(1, len(stem) + 1)] if nested else []
    keys = sorted({norm(key) for key in [*some, *deep]} - {""})
    text = norm("".join(chance.choice([*some, stem, chance.choice(letters)]) for _ in range(30)))
    copy = VocabularyCopy(1, keys, [(key,) for key in keys])
    copy.make_ready()
    assert copy.occurring(text) == tuple(Occurrence(key, (key,)) for key in keys if occurs(key, text))


def _agree(keys: list[str], text: str) -> None:
    ordered = tuple(sorted({norm(key) for key in keys}))
    text = norm(text)
    expected = {key for key in ordered if occurs(key, text)}
    assert {ordered[place] for place in Automaton(ordered).occurring(text)} == expected


def _nested(unit: str, *, tail: str = "") -> list[str]:
    return sorted(unit * count + tail for count in range(1, 201))


def _windows() -> tuple[list[str], str]:
    """A text that repeats itself after 120 characters, and every piece of it as a key."""
    stem = "".join(chr(0x4E00 + place) for place in range(120))
    return sorted({(stem * 2)[at : at + size] for at in range(120) for size in range(1, 121)}), stem * 166


WORST: dict[str, tuple[Callable[[], tuple[Any, Any]], int]] = {
    "every key inside the next": (lambda: (_nested("卡"), "卡" * 20_000), 200),
    "with a decoy that is never found": (lambda: (sorted([*_nested("卡"), "卡" * 190 + "x"]), "卡" * 20_000), 200),
    "with tails": (lambda: (_nested("卡", tail="a"), ("卡" * 150 + "a ") * 130), 150),
    "glued at the end": (lambda: (_nested("卡a"), "卡aa" * 6_600), 0),
    "of ascii": (lambda: (_nested("a"), "a" * 20_000), 0),
    "of punctuation": (lambda: (_nested("."), "." * 20_000), 200),
    "every piece of a text that repeats": (_windows, 120 * 120),
}


@pytest.mark.parametrize("name", WORST)
def test_adversarial_keys_cost_neither_much_memory_nor_much_time(name: str) -> None:
    make, expected = WORST[name]
    keys, text = make()
    made = Automaton(keys)
    started = time.perf_counter()
    assert len(made.occurring(text)) == expected
    assert time.perf_counter() - started < 10  # telling all hits of the worst takes far longer than this, and 500 MB
    assert extra_memory_bytes(lambda: made.occurring(text[:4_000])) < 20_000_000


def test_a_hundred_thousand_keys() -> None:
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9))) for _ in range(20_000)]
    keys = set()
    while len(keys) < 100_000:
        keys.add(" ".join(chance.choices(words, k=chance.randint(1, 3))))
    ordered = sorted(keys)
    wanted = chance.sample(ordered, 40)
    text = " . ".join(wanted)
    places = Automaton(ordered).occurring(text)
    assert set(wanted) <= {ordered[place] for place in places}
    assert all(occurs(ordered[place], text) for place in places)
