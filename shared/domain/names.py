"""Names that people give to things: one line, visible, bounded."""

from __future__ import annotations

import re

MAX_NAME_CHARACTERS = 120
# Control characters, line and paragraph separators, and the marks that turn text around on a screen.
_FORBIDDEN = "\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_NOT_ALLOWED = re.compile(f"[{_FORBIDDEN}]")


def checked_name(text: str) -> str:
    """The name without surrounding white space. Raises `ValueError` with a sentence for the caller."""
    name = text.strip()
    if not name:
        raise ValueError("A name has at least one visible character")
    if len(name) > MAX_NAME_CHARACTERS:
        raise ValueError(f"A name has at most {MAX_NAME_CHARACTERS} characters")
    if _NOT_ALLOWED.search(name):
        raise ValueError("A name is one line without control characters")
    return name
