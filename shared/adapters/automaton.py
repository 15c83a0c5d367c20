"""Finding many keys in one pass over a text.

The library is imported when the first automaton is made: a process that never matches does not pay for it. It holds
the interpreter's lock while it works.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from shared.domain.matching import is_glued

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

# Of keys that begin with one another (`card`, `card pass`, ...), so many at most may all be reported at one position.
MAX_NESTED: Final = 16
_STRETCH_CHARACTERS: Final = 4_096
_STEP_CHARACTERS: Final = 64


class Automaton:
    """Over keys in ascending order, none empty, none twice."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = keys
        self._longest = max(map(len, keys), default=0)
        self._prefix, depth = _nesting(keys)
        self._is_nested = depth > MAX_NESTED
        self._library = _made(keys, longest_only=self._is_nested) if keys else None
        if not self._is_nested:
            self._prefix = []

    def occurring(self, text: str) -> set[int]:
        """Which keys occur somewhere with both edges free, by their places in the list."""
        if self._library is None:
            return set()
        return self._among_nested(self._library, text) if self._is_nested else self._among_plain(self._library, text)

    def _among_plain(self, library: AhoCorasick, text: str) -> set[int]:
        """Every hit, stretch by stretch, so that the list of hits stays short. A key that is found is done with."""
        found: set[int] = set()
        for at in range(0, len(text), _STRETCH_CHARACTERS):
            stretch = text if len(text) <= _STRETCH_CHARACTERS else text[at : at + _STRETCH_CHARACTERS + self._longest]
            for key, start, stop in library.find_matches_as_indexes(stretch, overlapping=True):
                if key not in found and not is_glued(text, at + start) and not is_glued(text, at + stop):
                    found.add(key)
        return found

    def _among_nested(self, library: AhoCorasick, text: str) -> set[int]:
        """Where hundreds of keys may begin at one position: only the longest is asked of the library, the others are
        its prefixes. Of these, those that are found already are stepped over.
        """
        above: dict[int, int] = {}  # of a found key, its next prefix that may not be found yet
        for start, longest in self._longest_at_each(library, text):
            key = -1 if is_glued(text, start) else longest
            while key >= 0:
                if key in above:
                    key = _skipped(key, above)
                    continue
                if not is_glued(text, start + len(self._keys[key])):
                    above[key] = self._prefix[key]
                key = self._prefix[key]
        return set(above)

    def _longest_at_each(self, library: AhoCorasick, text: str) -> Iterator[tuple[int, int]]:
        """(position, longest key that begins there). The library tells matches that do not overlap, leftmost first and
        the longest of each: nothing begins between two of them, and what begins inside one is asked again from there.
        """
        known = bytearray(len(text))
        position = 0
        while (position := known.find(0, position)) >= 0:
            trusted = min(position + _STEP_CHARACTERS, len(text))  # what begins before it cannot be cut off
            reached = position
            for key, start, stop in library.find_matches_as_indexes(text[position : trusted + self._longest]):
                begins = min(position + start, trusted)
                known[reached:begins] = b"\1" * (begins - reached)
                if begins == trusted or known[begins]:  # from a known match on, all is as it was found before
                    reached = trusted
                    break
                known[begins] = 1
                yield begins, key
                reached = position + stop
            known[reached:trusted] = b"\1" * (trusted - reached)


def _skipped(key: int, above: dict[int, int]) -> int:
    """The nearest prefix that is not found yet, or -1; the way there is shortened for the next time."""
    nearest = key
    while nearest in above:
        nearest = above[nearest]
    while key in above:
        above[key], key = nearest, above[key]
    return nearest


def _nesting(keys: Sequence[str]) -> tuple[list[int], int]:
    """For each key the place of the longest other key that it begins with, or -1; and how deep that goes at most."""
    prefix, deepest = [], 0
    open_keys: list[int] = []
    for place, key in enumerate(keys):
        while open_keys and not key.startswith(keys[open_keys[-1]]):
            open_keys.pop()
        prefix.append(open_keys[-1] if open_keys else -1)
        open_keys.append(place)
        deepest = max(deepest, len(open_keys))
    return prefix, deepest


def _made(keys: Sequence[str], *, longest_only: bool) -> AhoCorasick:
    from ahocorasick_rs import AhoCorasick, MatchKind

    kind = MatchKind.LeftmostLongest if longest_only else MatchKind.Standard
    return AhoCorasick(keys, matchkind=kind, store_patterns=False)
