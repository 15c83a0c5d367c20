"""Finds the published document: beside this file in a bundle, in `docs/` in the source tree."""

from __future__ import annotations

from pathlib import Path

from functions.assets.published import Published

_HERE = Path(__file__).resolve().parent
_PLACES = (_HERE / "static" / "openapi.json", _HERE.parents[1] / "docs" / "openapi.json")


def published(places: tuple[Path, ...] = _PLACES) -> Published:
    """Raises `FileNotFoundError` when the document is nowhere: such a function must not start."""
    for place in places:
        if place.is_file():
            return Published.of(place.read_text(encoding="utf-8"))
    raise FileNotFoundError("openapi.json is neither in the bundle nor in docs/.")
