"""Tools, quotes and receipts of Alexandria on the wire."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import AfterValidator, Field, JsonValue

from shared.domain.alexandria import (
    MAX_NAME_CHARACTERS,
    MAX_OPTIONS_BYTES,
    MAX_TOOLS,
    USABLE_NAME,
    Found,
    Notice,
    Order,
    Receipt,
    ReceiptState,
    Tool,
    ToolName,
    ToolOption,
    Trouble,
    canonical,
)
from shared.domain.alexandria_requests import Executed, Quoted, ToolChoice, ToolWish
from shared.errors import Problem
from shared.web.agent_ids import agent_id_of
from shared.web.answer_size import MAX_ANSWER_BYTES, delivered_bytes
from shared.web.events import Event
from shared.web.moments import moment, moment_or_none
from shared.web.search_fields import SentText
from shared.web.wire import Model, WireModel, read_body

Wish = TypeVar("Wish")


def _small_enough(options: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if len(canonical(options)) > MAX_OPTIONS_BYTES:
        raise ValueError(f"At most {MAX_OPTIONS_BYTES} bytes of options, encoded")
    return options


ProviderId = Annotated[
    str, Field(min_length=1, max_length=128, description="A provider of kind firecrawl to go through.")
]
NamePart = Annotated[
    str, Field(min_length=1, max_length=MAX_NAME_CHARACTERS, pattern=f"^{USABLE_NAME}$", examples=["acmestats"])
]
RequestId = Annotated[
    str,
    Field(
        pattern="^[A-Za-z0-9._:-]{1,64}$",
        description="Yours: the same execution is sent once under it, however often it is asked for.",
        examples=["ferry-report-2026-11"],
    ),
]


class ToolNameModel(WireModel):
    """Whose tool it is, and what it does, as Alexandria names both."""

    provider: NamePart
    capability: NamePart

    @classmethod
    def of(cls, tool: ToolName) -> ToolNameModel:
        return cls(provider=tool.provider, capability=tool.capability)


class ToolSearchBody(WireModel):
    """Describe what is needed; without `provider` the gateway chooses which registration to go through."""

    query: Annotated[str, Field(min_length=1, max_length=500), SentText]
    limit: Annotated[int, Field(ge=1, le=MAX_TOOLS)] = 10
    provider: ProviderId | None = None

    def to_wish(self) -> ToolWish:
        return ToolWish(query=self.query, limit=self.limit, provider=self.provider)


class ToolInspectBody(WireModel):
    """`tool` names it as a search showed it."""

    tool: ToolNameModel
    provider: ProviderId | None = None

    def to_wish(self) -> ToolChoice:
        return ToolChoice(tool=ToolName(self.tool.provider, self.tool.capability), provider=self.provider)


class ToolExecuteBody(WireModel):
    """`options` go to the tool as they are."""

    quote_id: Annotated[str, Field(min_length=1, max_length=64, examples=["aq_0123456789abcdef0123456789abcdef"])]
    request_id: RequestId
    options: Annotated[
        dict[str, JsonValue],
        AfterValidator(_small_enough),
        Field(description=f"Up to {MAX_OPTIONS_BYTES} bytes, encoded."),
    ]

    def to_wish(self) -> Order:
        return Order(quote_id=self.quote_id, request_id=self.request_id, options=canonical(self.options))


class ToolReceiptBody(WireModel):
    request_id: RequestId

    def to_wish(self) -> str:
        return self.request_id


class ToolOptionOut(WireModel):
    """`rules` is what else the service says of the option: a default, bounds, values to choose from."""

    name: str
    type: str
    about: str
    required: bool
    rules: dict[str, JsonValue]

    @classmethod
    def of(cls, option: ToolOption) -> ToolOptionOut:
        return cls(
            name=option.name, type=option.type, about=option.about, required=option.required, rules={**option.rules}
        )


class ToolOut(WireModel):
    """Untrusted text. `credits` null: the service names no price, which does not mean that it is free. `perRecord`: the
    price is for each record that comes back; null where the service does not say. Of each group in `requiresOneOf` at
    least one option is needed.
    """

    id: str | None
    tool: ToolNameModel
    name: str
    description: str
    credits: int | None
    per_record: bool | None
    options: tuple[ToolOptionOut, ...]
    requires_one_of: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, tool: Tool) -> ToolOut:
        return cls(
            id=tool.id,
            tool=ToolNameModel.of(tool.tool),
            name=tool.name,
            description=tool.description,
            credits=tool.price.credits,
            per_record=tool.price.per_record,
            options=tuple(ToolOptionOut.of(option) for option in tool.options),
            requires_one_of=tool.requires_one_of,
        )


class ToolsOut(WireModel):
    tools: tuple[ToolOut, ...]
    warnings: tuple[Notice, ...]


class QuoteOut(WireModel):
    """Good until `expiresAt`, for the credential and the agent that asked. A call may cost more than it says."""

    quote_id: str
    expires_at: Annotated[str, Field(json_schema_extra={"format": "date-time"})]
    tool: ToolOut


class CostOut(WireModel):
    """`credits` is set where the service confirmed it, zero included; unknown is never zero."""

    status: Literal["confirmed", "unknown"]
    credits: int | None


class ReceiptOut(WireModel):
    """`mayTryAgain`: nothing was executed, and the same request may be sent once more under the same `requestId`."""

    request_id: str
    quote_id: str
    tool: ToolNameModel
    state: ReceiptState
    cost: CostOut
    error_code: Trouble | None
    retry_at: Annotated[str | None, Field(json_schema_extra={"format": "date-time"})]
    started_at: Annotated[str, Field(json_schema_extra={"format": "date-time"})]
    settled_at: Annotated[str | None, Field(json_schema_extra={"format": "date-time"})]
    expires_at: Annotated[str, Field(json_schema_extra={"format": "date-time"})]
    may_try_again: bool

    @classmethod
    def of(cls, receipt: Receipt) -> ReceiptOut:
        is_known = receipt.credits is not None
        return cls(
            request_id=receipt.request_id,
            quote_id=receipt.quote_id,
            tool=ToolNameModel.of(receipt.tool),
            state=receipt.state,
            cost=CostOut(status="confirmed" if is_known else "unknown", credits=receipt.credits),
            error_code=receipt.trouble,
            retry_at=moment_or_none(receipt.retry_at),
            started_at=moment(receipt.started_at),
            settled_at=moment_or_none(receipt.settled_at),
            expires_at=moment(receipt.expires_at),
            may_try_again=receipt.may_be_tried_again,
        )


class ExecutionOut(WireModel):
    """`result` is the tool's own data, untrusted. It comes once: a repetition has `null` and `result_not_kept`."""

    receipt: ReceiptOut
    result: JsonValue
    warnings: tuple[Notice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask(Generic[Wish]):
    """A read request. `wish` is a Problem where it could not be read: nobody is told before being admitted."""

    wish: Wish | Problem
    agent_id: str | None = None


def read_tool_search(event: Event) -> Ask[ToolWish]:
    return _read(ToolSearchBody, ToolSearchBody.to_wish, event)


def read_tool_inspect(event: Event) -> Ask[ToolChoice]:
    return _read(ToolInspectBody, ToolInspectBody.to_wish, event)


def read_tool_execute(event: Event) -> Ask[Order]:
    return _read(ToolExecuteBody, ToolExecuteBody.to_wish, event)


def read_tool_receipt(event: Event) -> Ask[str]:
    return _read(ToolReceiptBody, ToolReceiptBody.to_wish, event)


def _read(model: type[Model], to_wish: Callable[[Model], Wish], event: Event) -> Ask[Wish]:
    """Never raises a Problem: what is wrong is returned."""
    try:
        agent_id = agent_id_of(event)
        return Ask(wish=to_wish(read_body(model, event)), agent_id=agent_id)
    except Problem as problem:
        return Ask(wish=problem)


def encoded_tools(found: Found) -> str:
    out = ToolsOut(tools=tuple(ToolOut.of(tool) for tool in found.tools), warnings=found.notices)
    return out.model_dump_json(by_alias=True)


def encoded_quote(quoted: Quoted) -> str:
    quote = quoted.quote
    out = QuoteOut(quote_id=quote.id, expires_at=moment(quote.expires_at), tool=ToolOut.of(quoted.tool))
    return out.model_dump_json(by_alias=True)


def encoded_receipt(receipt: Receipt) -> str:
    return ReceiptOut.of(receipt).model_dump_json(by_alias=True)


def encoded_execution(executed: Executed, *, cap_bytes: int = MAX_ANSWER_BYTES) -> str:
    """A result that would make the answer larger than `cap_bytes` is left out, and said to be."""
    out = ExecutionOut(receipt=ReceiptOut.of(executed.receipt), result=executed.result, warnings=executed.notices)
    text = out.model_dump_json(by_alias=True)
    if delivered_bytes(text) <= cap_bytes:
        return text
    notices = (*executed.notices, Notice.RESULT_TOO_LARGE)
    return encoded_execution(replace(executed, result=None, notices=notices), cap_bytes=cap_bytes)
