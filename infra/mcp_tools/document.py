"""The descriptions of all tools, by class of caller and name. The same code always makes the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from infra.mcp_tools.schemas import described, plain, schema_of
from infra.mcp_tools.words import TOOLS, Words

PLACE: Final = Path(__file__).resolve().parents[2] / "functions" / "mcp" / "static" / "tools.json"
Json = dict[str, Any]


def document_text() -> str:
    """JSON, one space a level, with a newline at its end."""
    document = {caller.value: {each.name: _description(each) for each in tools} for caller, tools in TOOLS.items()}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _description(words: Words) -> Json:
    return {
        "name": words.name,
        "title": words.title,
        "description": words.description,
        "inputSchema": plain(described(schema_of(words.takes, "validation"), words.fields)),
        "outputSchema": schema_of(words.gives, "serialization"),
        "annotations": words.annotations,
    }
