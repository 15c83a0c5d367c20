"""Tools of an MCP server: what a call gave, and finding a tool that was renamed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from shared.domain.answer_bodies import JsonObject
from shared.domain.strict_json import JsonValue
from shared.errors import Refused

_MOST_TOOLS: Final = 500
_TOOL_NAME = re.compile(r"[\x21-\x7e]{1,128}", re.ASCII)
_UNKNOWN = re.compile(r"\s*(?:unknown tool\b|tool [^\n]{1,200} not found\b)", re.IGNORECASE)
_UNKNOWN_CODES: Final = (-32601, -32602)


class ToolUnknown(Refused):
    """The server has no such tool, or not with these arguments. Nothing was done."""

    code = "capability_unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """`texts` are the text parts of `content`, in order. `structured` usually says the same once more."""

    texts: tuple[str, ...] = field(repr=False)
    structured: JsonValue = field(default=None, repr=False)
    is_error: bool = False

    @property
    def text(self) -> str:
        """What the tool said, once: the structured part only counts where there is no text."""
        said = [text for text in self.texts if text.strip()]
        return "\n\n".join(said) if said else _as_text(self.structured)

    @property
    def is_unknown_tool(self) -> bool:
        code = self.structured.get("code") if isinstance(self.structured, dict) else None
        return self.is_error and (code in _UNKNOWN_CODES or _UNKNOWN.match(self.text) is not None)


def read_result(result: JsonObject) -> ToolResult:
    """Raises `Refused`: `capability_unavailable` for a result that wants more input first, `invalid_response` for one
    that is none.
    """
    kind = result.get("resultType")
    if kind == "input_required":
        raise Refused("capability_unavailable")
    content, structured, is_error = (result.get(name) for name in ("content", "structuredContent", "isError"))
    if kind not in (None, "complete") or not isinstance(is_error, bool | None) or content is structured is None:
        raise _broken()
    return ToolResult(texts=tuple(_texts(content)), structured=structured, is_error=is_error is True)


def _texts(content: JsonValue) -> Iterable[str]:
    """Pictures, sound and links among the parts are passed over."""
    if content is None:
        return
    if not isinstance(content, list):
        raise _broken()
    for part in content:
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            raise _broken()
        if part["type"] == "text":
            text = part.get("text")
            if not isinstance(text, str):
                raise _broken()
            yield text


def _as_text(value: JsonValue) -> str:
    if isinstance(value, dict) and list(value) == ["result"]:
        value = value["result"]
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A tool as the server lists it: its name, the names of its arguments, and those that it insists on."""

    name: str
    arguments: frozenset[str]
    required: frozenset[str]


def read_offers(result: JsonObject) -> list[Offer]:
    """The tools of a `tools/list` result; entries that are none are passed over. Raises `Refused`."""
    tools = result.get("tools")
    if not isinstance(tools, list):
        raise _broken()
    return [offer for tool in tools[:_MOST_TOOLS] if (offer := _offer(tool)) is not None]


def _offer(tool: JsonValue) -> Offer | None:
    """Only the names in its schema are looked at: some schemas refer to themselves in odd ways."""
    name, schema = (tool.get("name"), tool.get("inputSchema")) if isinstance(tool, dict) else (None, None)
    if not isinstance(name, str) or _TOOL_NAME.fullmatch(name) is None or not isinstance(schema, dict):
        return None
    properties, required = schema.get("properties"), schema.get("required")
    return Offer(
        name=name,
        arguments=frozenset(properties) if isinstance(properties, dict) else frozenset(),
        required=frozenset(r for r in required if isinstance(r, str)) if isinstance(required, list) else frozenset(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """How a tool is called. `arguments` maps each of our words to the name that the tool has for it."""

    name: str
    arguments: Mapping[str, str]

    def named(self, values: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        return {self.arguments[word]: value for word, value in values.items() if word in self.arguments}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a kind needs of a tool. `names`: those that are known, the usual one first; `pattern` fits any other.
    `needed` and `useful`: our words for arguments, each with the names that it may have, the usual one first. A tool
    without a needed one will not do.
    """

    names: Sequence[str]
    pattern: re.Pattern[str]
    needed: Mapping[str, Sequence[str]]
    useful: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def usual(self) -> Tool:
        arguments = {word: names[0] for word, names in (*self.needed.items(), *self.useful.items())}
        return Tool(name=self.names[0], arguments=arguments)

    def choose(self, offers: Sequence[Offer]) -> Tool | None:
        """The best of what is offered: a known name before another, and no guess where several others fit."""
        able = {offer.name: tool for offer in offers if (tool := self._tool(offer)) is not None}
        known = [able[name] for name in self.names if name in able]
        others = [tool for name, tool in able.items() if self.pattern.search(name)]
        return known[0] if known else others[0] if len(others) == 1 else None

    def _tool(self, offer: Offer) -> Tool | None:
        wanted = {**self.needed, **self.useful}
        found = {
            word: next((name for name in names if name in offer.arguments), None) for word, names in wanted.items()
        }
        arguments = {word: name for word, name in found.items() if name is not None}
        is_able = self.needed.keys() <= arguments.keys() and offer.required <= set(arguments.values())
        return Tool(name=offer.name, arguments=arguments) if is_able else None


def _broken() -> Refused:
    return Refused("invalid_response")
