"""Writes the present build's pinned name and hash into docs/widget.md: the last step of `make faces`."""

from __future__ import annotations

import re
from pathlib import Path

from functions.assets.faces import integrity_of, pinned_name, present_script

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "widget.md"
_NAME = re.compile(r"knowledge-search\.[0-9a-f]{16}\.js")
_INTEGRITY = re.compile(r"sha384-[A-Za-z0-9+/]{64}")


def with_present_build(text: str, script: bytes) -> str:
    """The document's text, with what belongs to `script` wherever a pinned name or a hash stands."""
    return _INTEGRITY.sub(integrity_of(script), _NAME.sub(pinned_name(script), text))


if __name__ == "__main__":
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(with_present_build(text, present_script()), encoding="utf-8")
