"""The published OpenAPI 3.1 document. The same code always makes the same bytes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from infra.openapi.components import HEADERS, PARAMETERS, SECURITY_SCHEMES, TAGS
from infra.openapi.examples import answer_examples, problem_examples, request_examples, text_examples
from infra.openapi.operation import Operation
from infra.openapi.operations import OPERATIONS
from infra.openapi.responses import parameters_of, responses_of, text_content
from infra.openapi.schemas import component_schemas, reference_to
from infra.routes import ROUTES

ROOT = Path(__file__).resolve().parents[2]
Json = dict[str, Any]
_DESCRIPTION = """\
Finds knowledge passages, live, in many knowledge bases. An internal source cannot be queried on a customer path, and
one bad or slow source never spoils the answer: the answer says so.

Names are camelCase. Unknown fields are refused. Problems are `application/problem+json` with a stable `code`.
"""


def document_text() -> str:
    """JSON, two spaces a level, with a newline at its end. Raises `KeyError` for a route that nothing describes."""
    return json.dumps(_document(), indent=2, ensure_ascii=False) + "\n"


def _document() -> Json:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Knowledge Gateway",
            "version": _version(),
            "description": _DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The address of your own deployment."}],
        "tags": [{"name": name, "description": description} for name, description in TAGS],
        "paths": _paths(),
        "components": {
            "securitySchemes": SECURITY_SCHEMES,
            "parameters": PARAMETERS,
            "headers": HEADERS,
            "schemas": component_schemas(),
            "examples": {**request_examples(), **answer_examples(), **text_examples(), **problem_examples()},
        },
    }


def _version() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


def _paths() -> Json:
    paths: dict[str, Json] = {}
    for route in ROUTES:
        item = paths.setdefault(route.path, {})
        item[route.method.lower()] = _operation(route.method, route.path, OPERATIONS[route.method, route.path])
    return paths


def _operation(method: str, path: str, operation: Operation) -> Json:
    described: Json = {"operationId": operation.id, "tags": [operation.tag], "summary": operation.summary}
    if operation.description:
        described["description"] = operation.description
    described["security"] = [{token: []} for token in operation.tokens]
    described["parameters"] = parameters_of(path, operation)
    if operation.request:
        described["requestBody"] = _body(operation)
    if operation.request_texts:
        content = {media_type: text_content(media_type) for media_type in operation.request_texts}
        described["requestBody"] = {"required": True, "content": content}
    described["responses"] = responses_of(method, path, operation)
    return described


def _body(operation: Operation) -> Json:
    schemas = [reference_to(model) for model in operation.request]
    return {
        "required": operation.body_required,
        "content": {
            "application/json": {
                "schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas},
                "examples": {
                    name: {"$ref": f"#/components/examples/{name}"}
                    for name in (*(model.__name__ for model in operation.request), *operation.request_examples)
                },
            }
        },
    }
