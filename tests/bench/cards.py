"""What a match costs, beside other ways to find many keys.

The text of a match has 2 KB and mentions ten keys, the same in every vocabulary. FlashText itself is measured where
it is installed; a trie of dictionaries that is walked word by word, as FlashText does, always.
"""

from __future__ import annotations

import importlib
import importlib.util
import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ahocorasick_rs import AhoCorasick

from shared.adapters.automaton import Automaton
from shared.adapters.vocabulary_copies import VocabularyCopy
from shared.domain.cards import norm
from shared.domain.matching import in_order, is_glued
from tests.bench.measure import Row, cpu_ms, interleaved, wall_ms

FEW, MANY = 1_000, 100_000
TEXT_BYTES = 2_048
_REPEATS = 500


def words(count: int) -> list[str]:
    """Distinct keys of one to three words, ascending, as a glossary has them."""
    chance = random.Random(1)
    parts = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(4, 10))) for _ in range(30_000)]
    found: set[str] = set()
    while len(found) < count:
        found.add(" ".join(chance.choices(parts, k=chance.randint(1, 3))))
    return sorted(found)


def few_of(many: Sequence[str]) -> list[str]:
    return list(many[:: len(many) // FEW])


def text_of(few: Sequence[str], many: Sequence[str]) -> str:
    """2 KB that mention ten of the few keys, and no other of the many, among words that are nobody's keys."""
    chance, every = random.Random(2), frozenset(many)
    mentioned = [key for key in chance.sample(list(few), 100) if not _parts_of(key) & every][:10]
    text = ""
    for count, key in enumerate(mentioned, start=1):
        text += key.title() + " "
        while len(text) < TEXT_BYTES * count / len(mentioned) - 12:
            text += "Q" + "".join(chance.choices("0123456789", k=7)) + " "
    return text.rstrip()


def _parts_of(key: str) -> set[str]:
    words = key.split()
    pieces = {" ".join(words[begin:end]) for begin in range(len(words)) for end in range(begin + 1, len(words) + 1)}
    return pieces - {key}


def _copy(keys: list[str]) -> VocabularyCopy:
    copy = VocabularyCopy(1, keys, [(f"crd_{place:a>16}",) for place in range(len(keys))])
    copy.make_ready()
    return copy


def _repeated(work: Callable[[], object]) -> Callable[[], float]:
    """Microseconds of CPU time of one piece of work, out of many."""

    def measured() -> float:
        return cpu_ms(lambda: [work() for _ in range(_REPEATS)]) * 1000 / _REPEATS

    return measured


def rows() -> Iterator[Row]:
    many = words(MANY)
    few = few_of(many)
    text = text_of(few, many)
    large, small = _copy(many), _copy(few)

    def match(copy: VocabularyCopy) -> Callable[[], object]:
        return lambda: in_order(copy.occurring(norm(text)))

    assert len(match(large)()) == len(match(small)()) == 10  # type: ignore[arg-type]
    ours, baseline = interleaved(_repeated(match(large)), _repeated(match(small)))
    yield Row("cards: match 2 KB, 100,000 keys / 1,000 keys", ours, baseline, "µs CPU", 2.5, "warm, ten hits in both")
    bare = AhoCorasick(many, store_patterns=False)
    ours, baseline = interleaved(
        _repeated(match(large)), _repeated(lambda: bare.find_matches_as_indexes(norm(text), overlapping=True))
    )
    yield Row("cards: match 2 KB / bare automaton", ours, baseline, "µs CPU", 2.0, "both of the text's normal form")
    yield from _other_ways(many, few, text, match(large), match(small))
    yield _making_ready(many)
    yield _nested()


def _making_ready(many: list[str]) -> Row:
    """What holds a process up before its first match in a large collection."""
    ours, baseline = interleaved(
        lambda: wall_ms(lambda: Automaton(many)),
        lambda: wall_ms(lambda: AhoCorasick(many, store_patterns=False)),
        rounds=9,
    )
    return Row("cards: making 100,000 keys ready / bare automaton", ours, baseline, "ms", 1.5)


def _other_ways(
    many: list[str], few: list[str], text: str, large: Callable[[], object], small: Callable[[], object]
) -> Iterator[Row]:
    plain = norm(text)
    naive, trie, flashtext = partial(_naive, many, plain), _trie(many, plain), _flashtext(many, plain)
    assert len(naive()) == len(trie()) == 10  # as many as ours finds, or they would not be comparable
    ways: list[tuple[str, Callable[[], float], Callable[[], object], str]] = [
        ("a naive scan", lambda: 1000 * cpu_ms(naive), large, "100,000 keys"),
        ("a regular expression", _regex(few, plain), small, "1,000 keys: compiling 100,000 takes minutes"),
        ("a trie of dictionaries", _repeated(trie), large, "100,000 keys, as FlashText does"),
    ]
    if flashtext is not None:
        assert len(flashtext()) == 10
        ways.append(("FlashText", _repeated(flashtext), large, "100,000 keys"))
    for name, baseline, ours, note in ways:
        figures = interleaved(_repeated(ours), baseline, rounds=9)
        yield Row(f"cards: match 2 KB / {name}", *figures, "µs CPU", 1.0, note)


def _naive(keys: Sequence[str], text: str) -> list[str]:
    found = []
    for key in keys:
        at = text.find(key)
        while at >= 0 and (is_glued(text, at) or is_glued(text, at + len(key))):
            at = text.find(key, at + 1)
        if at >= 0:
            found.append(key)
    return found


def _regex(keys: Sequence[str], text: str) -> Callable[[], float]:
    longest_first = sorted(keys, key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.ASCII)
    assert len(pattern.findall(text)) == 10
    return lambda: 1000 * cpu_ms(lambda: pattern.findall(text))


def _trie(keys: Sequence[str], text: str) -> Callable[[], list[str]]:
    """Longest key first, whole words, each character a step in nested dictionaries."""
    root: dict[str, Any] = {}
    for key in keys:
        node = root
        for character in key:
            node = node.setdefault(character, {})
        node[""] = key

    def scan() -> list[str]:
        found, at = [], 0
        while at < len(text):
            node, place, longest = root, at, None
            while place < len(text) and (node := node.get(text[place])):  # type: ignore[assignment]
                place += 1
                if "" in node and not is_glued(text, place):
                    longest = node[""]
            if longest is not None and not is_glued(text, at):
                found.append(longest)
                at += len(longest)
            else:
                at += 1
        return found

    return scan


def _flashtext(keys: Sequence[str], text: str) -> Callable[[], list[str]] | None:
    if importlib.util.find_spec("flashtext") is None:
        return None
    processor = importlib.import_module("flashtext").KeywordProcessor(case_sensitive=True)
    for key in keys:
        processor.add_keyword(key)
    return lambda: list(processor.extract_keywords(text))


def _nested() -> Row:
    """200 keys, each the beginning of the next, in a text of 20,000 characters: four million hits."""
    keys, text = ["卡" * length for length in range(1, 201)], "卡" * 20_000
    bare, copy = AhoCorasick(keys, store_patterns=False), _copy(keys)
    ours, baseline = interleaved(
        lambda: wall_ms(lambda: copy.occurring(text)),
        lambda: wall_ms(lambda: bare.find_matches_as_indexes(text, overlapping=True)),
        rounds=9,
    )
    return Row(
        "cards: nested keys, 20,000 characters", ours, baseline, "ms", 1.0, "baseline: every hit of the automaton"
    )
