"""Words of others inside a text of ours, so that nobody takes them for ours: names on one line, passages in fences.

What stands between backticks is never ours. Of a passage only three things are left out: what steers a terminal, what
turns text around, and the alphabets that are drawn as nothing, in which a text can be hidden. Joiners, soft hyphens,
direction marks and the selectors of signs stay: languages and emoji are written with them. So a passage can still hold
characters that nobody sees; they are data like the rest of it. A name is ours to show, and has of all that is not drawn
the two joiners alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

# Control characters but tab and line feed; overrides, embeddings and isolates of direction; marks of annotations; tags
# and the selectors beside them, of which there are enough to spell any text.
_UNSEEN: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff"
)
# What else has no shape of its own: hyphens that are not shown, marks of direction, fillers, selectors, invisible signs
# of formulas, shorthand and music.
_SHAPELESS: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2060-\u2065\u3164\ufe00-\ufe0f\uffa0"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
_NOT_QUOTED: Final = re.compile(f"[{_UNSEEN}]")
_NOT_NAMED: Final = re.compile(f"[{_UNSEEN}{_SHAPELESS}]")
# White space to the eye: an empty cell of braille.
_BLANK: Final = re.compile("[\\s\u2800]+")
_JOINERS: Final = "\u200c\u200d"
_SEPARATORS: Final = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_TOUCHED: Final = re.compile(f"[{_UNSEEN}\u2028\u2029]")  # what either of the two above finds
_BACKTICKS: Final = re.compile("`+")
_SHORTEST_FENCE: Final = 4
_MARKER_CHARACTERS: Final = 12
MAX_NAME_CHARACTERS: Final = 300


def named(text: str, *, at_most: int = MAX_NAME_CHARACTERS) -> str:
    """A name, title or address of others: one line between backticks, which do not occur in it. `(no name)` for one
    that would look empty.
    """
    line = _on_one_line(text).replace("`", "'")
    if len(line) > at_most:
        line = line[: at_most - 1] + "…"
    return f"`{line}`" if line.strip(f" {_JOINERS}") else "(no name)"


def _on_one_line(text: str) -> str:
    if text.isascii() and text.isprintable():
        return " ".join(text.split())  # the same, in a quarter of the time: an answer has hundreds of names
    return _BLANK.sub(" ", _NOT_NAMED.sub("", _BLANK.sub(" ", text))).strip()


def quotable(text: str) -> str:
    """A text of others as it may stand in a fence: every line ends with a line feed."""
    if _TOUCHED.search(text) is None:
        return text
    return _NOT_QUOTED.sub("", _SEPARATORS.sub("\n", text))


@dataclass(frozen=True, slots=True)
class Fences:
    """For all passages of one answer. `marker` occurs in none of them, and is the same for the same passages."""

    marker: str

    @classmethod
    def around(cls, texts: Sequence[str]) -> Fences:
        quoted = [quotable(text) for text in texts]
        digest = hashlib.sha256("\0".join(quoted).encode())
        for number in count():
            marker = hashlib.sha256(digest.digest() + str(number).encode()).hexdigest()[:_MARKER_CHARACTERS]
            if not any(marker in text for text in quoted):
                return cls(marker)
        raise AssertionError  # there is always a next number

    def put(self, text: str, *, name: str) -> str:
        """`name` is our own word for the passage. The fence is longer than any run of backticks in it, so that nothing
        in it can close the fence.
        """
        quoted = quotable(text)
        longest = max((len(run) for run in _BACKTICKS.findall(quoted)), default=0)
        fence = "`" * max(_SHORTEST_FENCE, longest + 1)
        return f"{fence}untrusted {self.marker}\n{quoted}\n{fence}\n[end of {name}, {self.marker}]"
