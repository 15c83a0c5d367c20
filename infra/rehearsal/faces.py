"""Loads what browsers load from the deployed gateway, as they do: packed, and checked by the hash that is told."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from urllib.parse import urlsplit

from functions.assets.faces import integrity_of
from infra.cli.http import Received
from infra.rehearsal.searches import Callers
from infra.rehearsal.steps import Failed


def read_the_faces(callers: Callers, outputs: Mapping[str, str]) -> str:
    """Raises `Failed` unless both addresses of the script give the bytes of the told hash, packed or not, and the
    console comes with its policy.
    """
    pinned, packed = (
        _load(callers, outputs["WidgetPinnedScriptUrl"]),
        _load(callers, outputs["WidgetScriptUrl"], "gzip"),
    )
    if packed.headers.get("content-encoding") != "gzip" or "content-encoding" in pinned.headers:
        raise Failed("The script is not packed for whoever takes that, and for nobody else.")
    for script in (pinned.data, gzip.decompress(packed.data)):
        if integrity_of(script) != outputs["WidgetScriptIntegrity"]:
            raise Failed("The script is not the one whose hash the stack tells.")
    console = _load(callers, outputs["ConsoleUrl"])
    if "default-src 'none'" not in console.headers.get("content-security-policy", ""):
        raise Failed("The console comes without its policy.")
    return f"the widget's script, {len(packed.data)} bytes packed, as its hash says; the console under its policy"


def _load(callers: Callers, url: str, encoding: str = "identity") -> Received:
    return callers.bearer("").send("GET", urlsplit(url).path, Accept_Encoding=encoding)
