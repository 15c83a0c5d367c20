"""The widget's script and the console: files built from `infra/faces`, each at its path and with its headers.

The widget's script has two addresses: one where the present build always is, and one that names its content. A site
that pins the script's hash uses the second, so that a newer build never stands where its visitors expect an older one.
Builds that were released stay in the directory under such a name.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from functions.assets.documents import KEPT_FOR_A_WHILE, Document

STATIC = Path(__file__).resolve().parent / "static"
WIDGET = "/widget/v1/"
SCRIPT = "knowledge-search.js"
CONSOLE = "/console"
_PAGE = "index.html"

MEDIA_TYPES: Mapping[str, str] = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
}
FOR_EVERY_SITE: Mapping[str, str] = {
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
_FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}
_ASKED_AFTER = {"Cache-Control": "no-cache", "Cross-Origin-Resource-Policy": "same-origin"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_GUARDED = {
    **_ASKED_AFTER,
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


def pinned_name(script: bytes) -> str:
    """The name under which exactly this script is found: `knowledge-search.<16 hexadecimal digits>.js`."""
    return SCRIPT.replace(".js", f".{hashlib.sha256(script).hexdigest()[:16]}.js")


def integrity_of(script: bytes) -> str:
    """What a page writes into `integrity` beside the script's address: `sha384-` and base64."""
    return "sha384-" + base64.b64encode(hashlib.sha384(script).digest()).decode()


def present_script(static: Path = STATIC) -> bytes:
    """The widget's script as it is built now."""
    return (static / "widget" / "v1" / SCRIPT).read_bytes()


def face_files(static: Path = STATIC) -> list[Path]:
    """Every file of the faces, which are what a bundle has to carry."""
    return sorted(path for path in static.rglob("*") if path.suffix in MEDIA_TYPES)


def faces(static: Path = STATIC) -> dict[str, Document]:
    """By path. Raises `FileNotFoundError` where the script or the console's page is missing."""
    return dict([*_scripts(static), *_console(static / "console")])


def _scripts(static: Path) -> Iterator[tuple[str, Document]]:
    present = present_script(static)
    yield WIDGET + SCRIPT, _script(present, KEPT_FOR_A_WHILE)
    for script in {present, *(path.read_bytes() for path in (static / "widget" / "v1").glob("*.js"))}:
        yield WIDGET + pinned_name(script), _script(script, _FOR_EVER)


def _script(data: bytes, kept: Mapping[str, str]) -> Document:
    return Document(data, MEDIA_TYPES[".js"], {**FOR_EVERY_SITE, **kept})


def _console(directory: Path) -> Iterator[tuple[str, Document]]:
    yield CONSOLE, Document((directory / _PAGE).read_bytes(), MEDIA_TYPES[".html"], _GUARDED)
    for path in face_files(directory):
        if path.name != _PAGE:
            yield f"{CONSOLE}/{path.name}", Document(path.read_bytes(), MEDIA_TYPES[path.suffix], _ASKED_AFTER)
