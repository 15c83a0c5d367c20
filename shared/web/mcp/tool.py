"""What a tool is to the endpoint that offers it: a description, and something to call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from shared.domain.exposure import CredentialClass


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call, as it came. `arguments` is the JSON text of an object (`{}` where the caller sent none), not yet
    judged: nobody is told what is wrong with it before the token is verified, and that is the tool's to do.
    `caller` is the class that the token claims; the tool is offered to it. `agent_id` is for attribution alone.
    """

    caller: CredentialClass
    token: str
    arguments: bytes
    request_id: str
    agent_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """`text` is never empty. `structured` is the JSON text of an object that fits the tool's output schema for this
    caller; None where there is none to give, as with refused arguments. `headers` go out with the answer.
    """

    text: str
    structured: str | None = None
    is_error: bool = False
    headers: dict[str, str] = field(default_factory=dict)


Runs: TypeAlias = Callable[[ToolCall], ToolResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """`description` is the JSON object that `tools/list` shows of it to one class of callers, as JSON text: name,
    title, description, inputSchema, outputSchema, annotations. The same text in every process.

    `run` raises `Problem` for what is no tool's business: an unknown token, a rate limit, a store that cannot be used.
    """

    name: str
    description: Callable[[CredentialClass], str]
    offered_to: frozenset[CredentialClass]
    run: Runs


Tools: TypeAlias = tuple[Tool, ...]
