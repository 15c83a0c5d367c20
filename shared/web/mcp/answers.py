"""Answers as JSON text. What is JSON already, a tool's structured result or description, is placed as it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from shared.web.mcp.faults import Fault, RequestId
from shared.web.mcp.identity import CAPABILITIES, INSTRUCTIONS, KEPT_FOR_MS, SERVER_INFO, SERVER_INFO_KEY
from shared.web.mcp.revisions import MODERN, SPOKEN
from shared.web.mcp.tool import ToolResult


def answered(to: RequestId, members: Iterable[str], *, revision: str) -> str:
    """The whole answer; `members` are those of the result, each as `"name":value`."""
    own = _MODERN_MEMBERS if revision == MODERN else ()
    return f'{{"jsonrpc":"2.0","id":{_encoded(to)},"result":{{{",".join([*own, *members])}}}}}'


def refused(fault: Fault) -> str:
    """Without an `id` where the message has none that can be read: the protocol knows no null there."""
    to = "" if fault.to is None else f'"id":{_encoded(fault.to)},'
    error: dict[str, Any] = {"code": int(fault.code), "message": fault.message}
    if fault.data is not None:
        error["data"] = fault.data
    # Escaped, for what a client asked for may be no valid Unicode.
    return f'{{"jsonrpc":"2.0",{to}"error":{json.dumps(error, separators=(",", ":"))}}}'


def handshake(revision: str) -> list[str]:
    return _members(
        {
            "protocolVersion": revision,
            "capabilities": CAPABILITIES,
            "serverInfo": SERVER_INFO,
            "instructions": INSTRUCTIONS,
        }
    )


def discovery() -> list[str]:
    return _members(
        {"supportedVersions": SPOKEN, "capabilities": CAPABILITIES, "instructions": INSTRUCTIONS} | _KEEPING
    )


def listing(descriptions: Iterable[str], *, revision: str) -> list[str]:
    return [f'"tools":[{",".join(descriptions)}]', *(_members(_KEEPING) if revision == MODERN else ())]


def outcome(result: ToolResult) -> list[str]:
    structured = [] if result.structured is None else [f'"structuredContent":{result.structured}']
    content = f'"content":[{{"type":"text","text":{_encoded(result.text)}}}]'
    return [content, *structured, f'"isError":{_encoded(result.is_error)}']


def _members(values: Mapping[str, Any]) -> list[str]:
    return [f"{_encoded(name)}:{_encoded(value)}" for name, value in values.items()]


def _encoded(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_MODERN_MEMBERS = tuple(_members({"resultType": "complete", "_meta": {SERVER_INFO_KEY: SERVER_INFO}}))
# What is listed depends on who asks.
_KEEPING: dict[str, Any] = {"ttlMs": KEPT_FOR_MS, "cacheScope": "private"}
