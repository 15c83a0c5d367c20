"""Names that people give to things: one line, visible, bounded; and when two of them are the same."""

from __future__ import annotations

import hashlib
import re
import unicodedata

MAX_NAME_CHARACTERS = 120
# Control characters, line and paragraph separators, and the marks that turn text around on a screen.
_FORBIDDEN = "\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_NOT_ALLOWED = re.compile(f"[{_FORBIDDEN}]")
# Nothing is drawn for format characters, nor for these, which Unicode files under letters, marks and unassigned.
_NOT_DRAWN = re.compile("[\u034f\u17b4\u17b5\u180b-\u180f\u2065\ufe00-\ufe0f\ufff0-\ufff8\U000e0000-\U000e0fff]")
_DRAWN_FORMAT = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
# Letters and a symbol that are drawn as a gap.
_BLANK = re.compile("[\u115f\u1160\u2800\u3164\uffa0]")
_NOT_ALONE = ("Cc", "Cs", "Mn", "Mc", "Me")  # a mark is drawn on what stands before it
_MAX_KEY_BYTES = 900  # a key is part of a row's own key, which has its limit


def checked_name(text: str) -> str:
    """The name without surrounding white space. Raises `ValueError` with a sentence for the caller."""
    name = text.strip()
    if not any(_is_visible(character) for character in name):
        raise ValueError("A name has at least one visible character")
    if len(name) > MAX_NAME_CHARACTERS:
        raise ValueError(f"A name has at most {MAX_NAME_CHARACTERS} characters")
    if _NOT_ALLOWED.search(name):
        raise ValueError("A name is one line without control characters")
    return name


def name_key(name: str) -> str:
    """What makes a name unique: the same for names that look the same, whatever their case, width, Unicode spelling,
    white space and invisible characters. At most 900 bytes.
    """
    once = _folded(name)
    key = " ".join(_folded(once).split())  # folding can undo a composition and make white space
    data = key.encode()
    return key if len(data) <= _MAX_KEY_BYTES else f"sha256:{hashlib.sha256(data).hexdigest()}"


def _folded(text: str) -> str:
    drawn = "".join(character for character in _BLANK.sub(" ", text) if not _is_undrawn(character))
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", drawn).casefold())


def _is_visible(character: str) -> bool:
    is_blank = character.isspace() or _BLANK.match(character) is not None
    return not is_blank and not _is_undrawn(character) and unicodedata.category(character) not in _NOT_ALONE


def _is_undrawn(character: str) -> bool:
    if unicodedata.category(character) == "Cf":
        return character not in _DRAWN_FORMAT
    return _NOT_DRAWN.match(character) is not None
