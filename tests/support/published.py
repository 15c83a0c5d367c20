"""The published document as a judge: whether an answer is one that it describes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

DOCUMENT = Path(__file__).parents[2] / "docs" / "openapi.json"
_URI = "urn:published"


@cache
def document() -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    return whole


@cache
def _validator(pointer: str) -> Draft202012Validator:
    registry: Any = Registry().with_resource(_URI, DRAFT202012.create_resource(document()))
    return Draft202012Validator({"$ref": f"{_URI}#{pointer}"}, registry=registry)


def violations(pointer: str, value: object) -> list[str]:
    """What of `value` breaks the schema at this JSON pointer into the document."""
    return [f"{error.json_path}: {error.message}" for error in _validator(pointer).iter_errors(value)]


def path_of(called: str) -> str | None:
    """The document's path that takes a called one; a literal segment wins over a parameter."""
    fitting = [path for path in document()["paths"] if re.fullmatch(re.sub(r"{[^}]+}", "[^/]+", path), called)]
    return min(fitting, key=lambda path: path.count("{"), default=None)


def faults_of(method: str, called: str, status: int, headers: Mapping[str, str], text: str) -> list[str]:
    """What of an answer the document does not describe. Calls of unknown paths and methods are not judged."""
    path = path_of(called)
    operation = document()["paths"].get(path, {}).get(method.lower())
    if path is None or operation is None:
        return []
    described = operation["responses"].get(str(status))
    if described is None:
        return [f"{operation['operationId']} never answers {status}"]
    if "content" not in described:
        return [] if not text else ["a body where none is described"]
    media_type = headers["Content-Type"].partition(";")[0]
    if media_type not in described["content"]:
        return [f"{media_type} is not described"]
    pointer = _pointer("paths", path, method.lower(), "responses", str(status), "content", media_type, "schema")
    return violations(pointer, json.loads(text) if media_type.endswith("json") and "x-" not in media_type else text)


def _pointer(*parts: str) -> str:
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)
