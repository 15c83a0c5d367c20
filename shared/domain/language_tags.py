"""Language tags (BCP 47), by their shape alone: no registry of subtags is consulted."""

from __future__ import annotations

import re

MAX_CHARACTERS = 35
_TAG = re.compile(r"(?:[A-Za-z]{2,8}|[xXiI](?=-))(?:-[A-Za-z0-9]{1,8})*", re.ASCII)


def is_language_tag(text: str) -> bool:
    """`de`, `de-DE`, `zh-Hant-TW`, `x-house`; never `de_DE`, an empty text or one over 35 characters."""
    return len(text) <= MAX_CHARACTERS and _TAG.fullmatch(text) is not None
