"""Opaque cursors of lists. One holds a version, the list's name and a sort key: what may be seen is decided anew."""

from __future__ import annotations

import base64
import binascii
import json
import re
from enum import Enum

from shared.domain.strict_json import NotStrictJson, parse
from shared.errors import Invalid

_VERSION = 1
_MAX_CHARACTERS = 256


class List(Enum):
    """Each list, with the shape of its sort keys."""

    PROVIDERS = "providers", r"(?:ao|cs)_[a-z2-7]{16}"
    INSTANCES = "instances", r"(?:aoi|csi)_[a-z2-7]{16}"
    CREDENTIALS = "credentials", r"[a-z2-7]{16}|root"
    COLLECTIONS = "collections", r"(?:aoc|csc)_[a-z2-7]{16}"
    CARDS = "cards", r"crd_[a-z2-7]{16}"
    AUDIT = "audit", r"[0-9TZ:.+\-]{20,40}#[0-9a-f]{8}"

    def __init__(self, label: str, pattern: str) -> None:
        self.label = label
        self.sort_key = re.compile(pattern, re.ASCII)


def cursor_of(which: List, sort_key: str) -> str:
    text = json.dumps([_VERSION, which.label, sort_key], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def sort_key_of(which: List, cursor: str) -> str:
    """What stands in the cursor. Raises `Invalid` (`invalid_cursor`) for a malformed or foreign one."""
    sort_key = _sort_key_of(which, cursor)
    # Only the one spelling that `cursor_of` makes is taken.
    if sort_key is None or which.sort_key.fullmatch(sort_key) is None or cursor_of(which, sort_key) != cursor:
        raise Invalid("Take the cursor from `nextCursor` of this list, or leave it out.", code="invalid_cursor")
    return sort_key


def _sort_key_of(which: List, cursor: str) -> str | None:
    if len(cursor) > _MAX_CHARACTERS:
        return None
    try:
        content = parse(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, NotStrictJson):
        return None
    match content:
        case [version, label, str(sort_key)] if version == _VERSION and label == which.label:
            return sort_key
    return None
