"""What `tools/call` and `tools/list` take. Arguments are handed on unjudged: they are the tool's to read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from shared.domain.strict_json import JsonValue
from shared.web.mcp.faults import Fault, wrong_params


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """`arguments` is the JSON text of an object: `{}` where the client sent none."""

    name: str
    arguments: bytes


def read_call(params: Mapping[str, JsonValue]) -> Call | Fault:
    name, arguments = params.get("name"), params.get("arguments", {})
    if not isinstance(name, str):
        return wrong_params("params.name must be a string: the name of a tool.")
    if not isinstance(arguments, dict):
        return wrong_params("params.arguments must be an object.")
    return Call(name=name, arguments=json.dumps(arguments, ensure_ascii=False).encode())


def flaw_of_listing(params: Mapping[str, JsonValue]) -> Fault | None:
    """The list is one page, so that no cursor was ever given out."""
    return None if params.get("cursor") is None else wrong_params("params.cursor is none that was given out here.")
