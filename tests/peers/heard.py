"""What a client heard, told alike by every client, whatever language it is written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Said:
    """What came of one call: a result, or the code and the message of a JSON-RPC error."""

    content: list[dict[str, Any]]
    structured: Any = None
    is_error: bool = False
    error_code: int | None = None
    error: str = ""

    @property
    def text(self) -> str:
        return "\n".join(block["text"] for block in self.content)


@dataclass(frozen=True, slots=True)
class Heard:
    """`tools` by name, as `tools/list` showed them; `said` by the key that each call was planned under."""

    revision: str
    server: str
    tools: dict[str, dict[str, Any]]
    said: dict[str, Said]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Heard:
        """From the JSON that the clients in Node print."""
        return cls(
            revision=told["revision"],
            server=told["server"],
            tools={tool["name"]: tool for tool in told["tools"]},
            said={key: said_by(one) for key, one in told["said"].items()},
        )


@dataclass(frozen=True, slots=True)
class Planned:
    """A call to make of a tool. `arguments` may be what no schema allows."""

    tool: str
    arguments: dict[str, Any]

    @property
    def told(self) -> dict[str, Any]:
        return {"name": self.tool, "arguments": self.arguments}


def said_by(result: Mapping[str, Any]) -> Said:
    """From a result, or from `{"error": {"code", "message"}}`."""
    if error := result.get("error"):
        return Said([], error_code=error["code"], error=error["message"])
    return Said(result["content"], result.get("structuredContent"), bool(result.get("isError")))
