"""Finds what is served: the faces beside this file; the published documents there in a bundle, else in `docs/`."""

from __future__ import annotations

from pathlib import Path

from functions.assets.documents import Document
from functions.assets.faces import STATIC, faces
from functions.assets.published import OPENAPI, Published

_PLACES = (STATIC, Path(__file__).resolve().parents[2] / "docs")
_SCHEMAS = "/schemas/knowledge-provider/v1"
_MEDIA_TYPES = {
    OPENAPI: "application/json",
    f"{_SCHEMAS}/request.schema.json": "application/schema+json",
    f"{_SCHEMAS}/response.schema.json": "application/schema+json",
    f"{_SCHEMAS}/capabilities.schema.json": "application/schema+json",
}


def published(places: tuple[Path, ...] = _PLACES) -> Published:
    """Raises `FileNotFoundError` when a document is nowhere: such a function must not start."""
    documents = {path: _document(path, places) for path in _MEDIA_TYPES}
    return Published.of({**documents, **faces()})


def _document(path: str, places: tuple[Path, ...]) -> Document:
    for place in places:
        file = place / path.lstrip("/")
        if file.is_file():
            return Document(file.read_bytes(), _MEDIA_TYPES[path])
    raise FileNotFoundError(f"{path} is neither in the bundle nor in docs/.")
