"""The normal form is the standard one, and comes in time."""

from __future__ import annotations

import random
import sys
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.cards import norm
from shared.domain.normal_forms import nfkc

_LETTERS = "aeA가각ᄀ가\u0f71\u0f73\u0f81\u0344\u0316\u0301\u0323\u0345\u3099ｶﾞﾟかﷺ1 \u212b\u1f54"


@pytest.fixture(scope="module")
def every() -> list[str]:
    """All characters that fall apart."""
    return [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.decomposition(chr(code))]


@pytest.fixture(scope="module")
def marks() -> list[str]:
    return [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.combining(chr(code))]


@given(st.text(alphabet=_LETTERS, max_size=40), st.integers(0, 300))
def test_it_is_the_standard_one(text: str, padding: int) -> None:
    long = text + "é" * padding + text
    assert nfkc(long) == unicodedata.normalize("NFKC", long)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_standard_one_for_long_runs_of_any_marks(seed: int, every: list[str], marks: list[str]) -> None:
    chance = random.Random(seed)
    text = "".join(
        "".join(chance.choices(every, k=chance.randint(0, 3))) + "".join(chance.choices(marks, k=chance.randint(0, 90)))
        for _ in range(20)
    )
    assert len(text) > 256
    assert nfkc(text) == unicodedata.normalize("NFKC", text)


def test_it_is_the_standard_one_for_every_character(every: list[str]) -> None:
    assert nfkc("".join(every)) == unicodedata.normalize("NFKC", "".join(every))
    apart = "x".join(map(chr, [*range(0xD800), *range(0xE000, sys.maxunicode + 1)]))
    assert nfkc(apart) == unicodedata.normalize("NFKC", apart)


WORST = {
    "marks in the wrong order": "a" + "\u0344" * 10_000 + "\u0316" * 9_999,
    "marks in turn": "a" + "\u0301\u0316" * 10_000,
    "marks that characters hide": "a" + "\uff9e" * 10_000 + "\u093c" * 10_000,
    "vowel signs that fall apart": "a" + "\u0f73" * 20_000,
    "many letters with marks": ("a" + "\u0344" * 60 + "\u0316" * 60) * 165,
    "what grows the most": "\ufdfa" * 20_000,
}


@pytest.mark.parametrize("name", WORST)
def test_no_text_takes_long(name: str) -> None:
    """A tenth of a second is usual for five times what a request may hold. The standard library alone takes a minute
    for the first three.
    """
    text = WORST[name] * 5
    started_s = time.process_time()
    norm(text)
    assert time.process_time() - started_s < 8
