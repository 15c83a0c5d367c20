"""The headers in which clients repeat parts of a message, for those who look at no bodies."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Final

VERSION: Final = "mcp-protocol-version"
METHOD: Final = "mcp-method"
NAME: Final = "mcp-name"

_ENCODED = "=?base64?", "?="


def said(headers: Mapping[str, str], name: str) -> str | None:
    """The header's value without the white space around it, which is no part of it. `headers` are in lower case."""
    value = headers.get(name)
    return None if value is None else value.strip(" \t")


def decoded(value: str) -> str | None:
    """What stands in `=?base64?...?=`, the form for values that a header cannot hold; any other value as it is.
    None for what only looks encoded.
    """
    start, end = _ENCODED
    if not (value.startswith(start) and value.endswith(end) and len(value) >= len(start + end)):
        return value
    inner = value[len(start) : -len(end)]
    try:
        content = base64.b64decode(inner, validate=True)
        return content.decode() if base64.b64encode(content).decode() == inner else None
    except (binascii.Error, ValueError):
        return None
