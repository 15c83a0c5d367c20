"""The wire models as component schemas."""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from infra.openapi.operations import OPERATIONS
from infra.openapi.problem_words import PROBLEMS
from shared.web.outcome_words import OUTCOME_WORDS

REFERENCE = "#/components/schemas/"
Mode = Literal["validation", "serialization"]
Schema = dict[str, Any]


def component_schemas() -> dict[str, Schema]:
    """Every model that an operation names, in name order, with the problem and the health of the process."""
    _, whole = models_json_schema(_models(), ref_template=REFERENCE + "{model}")
    found: dict[str, Schema] = {name: _plain(schema) for name, schema in whole["$defs"].items()}
    found["OutcomeCode"] = _described(found["OutcomeCode"])
    found["Problem"] = _problem()
    found["Liveness"] = {
        "type": "object",
        "properties": {
            "status": {"const": "ok", "type": "string"},
            "release": {"type": "string", "description": "What the operator calls this deployment, if anything."},
        },
        "required": ["status"],
    }
    # A trailing underscore keeps a Python name apart from a built-in one; on the wire it means nothing.
    text = json.dumps({name.rstrip("_"): found[name] for name in sorted(found)}).replace('_"}', '"}')
    named: dict[str, Schema] = json.loads(text)
    return named


def reference_to(model: type[BaseModel]) -> Schema:
    return {"$ref": REFERENCE + model.__name__.rstrip("_")}


def _models() -> list[tuple[type[BaseModel], Mode]]:
    models: dict[tuple[type[BaseModel], Mode], None] = {}
    for operation in OPERATIONS.values():
        models.update({(model, "validation"): None for model in operation.request})
        models.update({(model, "serialization"): None for model in operation.answer})
        own = (*operation.own_errors, *operation.faults)
        models.update({(error.model, "serialization"): None for error in own})
    return list(models)


def _plain(schema: Any) -> Any:
    """Without the titles that are only field names in other letters."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: ({name: _plain(each) for name, each in value.items()} if key == "properties" else _plain(value))
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }


def _described(schema: Schema) -> Schema:
    lines = [f"- `{code}`: {words.happened} {words.advice}" for code, words in OUTCOME_WORDS.items()]
    return schema | {"description": "Why a provider gave nothing.\n\n" + "\n".join(lines)}


def _problem() -> Schema:
    lines = [f"- `{code}` ({words.status}): {words.happened} {words.advice}" for code, words in PROBLEMS.items()]
    return {
        "type": "object",
        "description": "What went wrong, after RFC 9457. A problem may carry further facts.",
        "properties": {
            "type": {"type": "string", "description": "`urn:knowledge-gateway:problem:` and the code."},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "code": {"type": "string", "enum": list(PROBLEMS), "description": "\n".join(lines)},
            "requestId": {"type": "string", "description": "Also in the header `X-Request-Id`."},
            "detail": {"type": "string"},
            "errors": {
                "type": "array",
                "description": "One entry a wrong field.",
                "items": {
                    "type": "object",
                    "properties": {
                        "pointer": {"type": "string", "description": "A JSON pointer into the request."},
                        "detail": {"type": "string"},
                    },
                    "required": ["pointer", "detail"],
                },
            },
        },
        "required": ["type", "title", "status", "code"],
    }
