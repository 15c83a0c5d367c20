"""Finds the published documents: beside this file in a bundle, in `docs/` in the source tree."""

from __future__ import annotations

from pathlib import Path

from functions.assets.published import OPENAPI, Document, Published

_HERE = Path(__file__).resolve().parent
_PLACES = (_HERE / "static", _HERE.parents[1] / "docs")
_SCHEMAS = "/schemas/knowledge-provider/v1"
_MEDIA_TYPES = {
    OPENAPI: "application/json",
    f"{_SCHEMAS}/request.schema.json": "application/schema+json",
    f"{_SCHEMAS}/response.schema.json": "application/schema+json",
    f"{_SCHEMAS}/capabilities.schema.json": "application/schema+json",
}


def published(places: tuple[Path, ...] = _PLACES) -> Published:
    """Raises `FileNotFoundError` when a document is nowhere: such a function must not start."""
    return Published.of({path: _document(path, places) for path in _MEDIA_TYPES})


def _document(path: str, places: tuple[Path, ...]) -> Document:
    for place in places:
        file = place / path.lstrip("/")
        if file.is_file():
            return Document.of(file.read_text(encoding="utf-8"), media_type=_MEDIA_TYPES[path])
    raise FileNotFoundError(f"{path} is neither in the bundle nor in docs/.")
