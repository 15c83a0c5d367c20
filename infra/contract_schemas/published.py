"""Where the schemas are published, and as which bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from infra.contract_schemas.schemas import VERSION, schemas

ROOT: Final = Path(__file__).resolve().parents[2]
# Served by the gateway and read by people; and the copy with which the conformance suite can be installed alone.
PLACES: Final = (
    ROOT / "docs" / "schemas" / "knowledge-provider" / f"v{VERSION}",
    ROOT / "tests" / "conformance" / "knowledge_conformance" / f"v{VERSION}",
)


def schema_texts() -> dict[str, str]:
    """By file name: JSON, two spaces a level, with a newline at its end."""
    return {
        f"{name}.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in schemas().items()
    }
