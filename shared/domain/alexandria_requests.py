"""What agents ask of Alexandria, and what they get."""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.domain.alexandria import Notice, Quote, Receipt, Tool, ToolName
from shared.domain.strict_json import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolWish:
    """`provider` is the id of the registration to go through, None for any."""

    query: str
    limit: int
    provider: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChoice:
    """`provider` is the id of the registration to go through, None for any."""

    tool: ToolName
    provider: str | None = None


@dataclass(frozen=True, slots=True)
class Quoted:
    quote: Quote
    tool: Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """`result` is handed over by the execution itself and by no repetition."""

    receipt: Receipt
    result: JsonValue = field(default=None, repr=False)
    notices: tuple[Notice, ...] = ()
