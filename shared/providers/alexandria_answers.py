"""Reading what Alexandria answers: tools as untrusted text, costs as confirmed or unknown, results as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from shared.domain.alexandria import (
    MAX_CREDITS,
    MAX_NAME_CHARACTERS,
    Execution,
    Found,
    Notice,
    Price,
    ReceiptState,
    Tool,
    ToolName,
    ToolOption,
    Trouble,
    is_usable,
)
from shared.domain.answer_bodies import MOST_MARKS, typed_object_in
from shared.domain.plain_text import cut, plain
from shared.domain.strict_json import JsonValue
from shared.errors import Refused, Unclear

CATALOGUE: Final = ToolName("firecrawl", "find-tools")
_MOST_MARKS_PAID: Final = 5 * MOST_MARKS
_MAX_DESCRIPTION_CHARACTERS: Final = 2_000
_MAX_ABOUT_CHARACTERS: Final = 500
_MAX_OPTIONS: Final = 64
_MAX_RULES: Final = 16
_MAX_CHOICES: Final = 100
_MAX_GROUPS: Final = 16
_OF_AN_OPTION: Final = frozenset({"name", "type", "about", "required"})
_Object: TypeAlias = "dict[str, JsonValue]"


def document_in(headers: Mapping[str, str], body: bytes, *, is_paid: bool = False) -> _Object | None:
    """The JSON object of an answer that says that it is one; None for anything else. `headers` in lower case. What is
    paid for may be a large table.
    """
    return typed_object_in(headers, body, most_marks=_MOST_MARKS_PAID if is_paid else MOST_MARKS)


def read_found(document: _Object | None, *, limit: int) -> Found:
    """The tools of a search. Raises `Refused` (`invalid_response`)."""
    data = _successful(document).get("data")
    listed = data.get("tools", []) if isinstance(data, dict) else None
    if not isinstance(listed, list):
        raise _broken()
    tools = [_tool(_checked(entry)) for entry in listed[:limit]]
    noticed = (
        (Notice.SURPLUS_CUT, len(listed) > limit),
        (Notice.TOOL_DROPPED, None in tools),
        (Notice.INCOMPLETE, _successful(document).get("warning") not in (None, "")),
    )
    return Found(
        tools=tuple(tool for tool in tools if tool is not None),
        notices=tuple(notice for notice, holds in noticed if holds),
    )


def read_offer(document: _Object | None, wanted: ToolName) -> Tool:
    """The wanted tool out of an answer of the catalogue. Raises `Refused`: `invalid_response`, also where the catalogue
    was not free, and `not_found`.
    """
    data, item = _sole_item(document)
    costs = (data.get("creditsCost"), item.get("creditsCost", 0)) if item is not None else ()
    if item is None or not _is_answer_to(CATALOGUE, item) or any(_credits(cost) != 0 for cost in costs):
        raise _broken()
    if item.get("error") is not None:
        raise Refused("upstream_error")
    page = item.get("data")
    entries = page.get("items") if isinstance(page, dict) else None
    if not isinstance(entries, list):
        raise _broken()
    for entry in entries:
        named = _named(_checked(entry))
        if ToolName(*_names(named)) == wanted and (tool := _tool(named)) is not None:
            return tool
    raise Refused("not_found")


def read_execution(document: _Object | None, wanted: ToolName) -> Execution:
    """What an answer of status 200 says of a call. Raises `Unclear` (`invalid_response`) for one that does not say
    whose result it is.
    """
    data, item = _sole_item(document)
    if item is None or not _may_answer(wanted, item):
        raise Unclear("invalid_response")
    if item.get("error") is not None:
        return Execution(state=ReceiptState.DONE, credits=_charged(data, item), trouble=Trouble.TOOL_FAILED)
    if "data" not in item or not _is_answer_to(wanted, item):
        raise Unclear("invalid_response")
    costs = _credits(data.get("creditsCost")), _credits(item.get("creditsCost"))
    credits_ = costs[0] if costs[0] == costs[1] else None
    return Execution(state=ReceiptState.DONE, credits=credits_, result=item["data"])


def _charged(data: _Object, item: _Object) -> int | None:
    """What a failed call cost: the sum of the answer, unless the item or its charge contradicts it."""
    total = _credits(data.get("creditsCost"))
    own = item.get("creditsCost")
    error = item["error"]
    charge = error.get("chargeId") if isinstance(error, dict) else None
    contradicted = (own is not None and _credits(own) != total) or (charge is not None and total == 0)
    return None if contradicted else total


def _sole_item(document: _Object | None) -> tuple[_Object, _Object | None]:
    """`data` and its one item; the item is None for an answer of any other shape."""
    data = document.get("data") if document is not None and document.get("success") is True else None
    items = data.get("alexandria") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(items, list) or len(items) != 1 or not isinstance(items[0], dict):
        return {}, None
    return data, items[0]


def _is_answer_to(tool: ToolName, item: _Object) -> bool:
    return (item.get("provider"), item.get("capability")) == (tool.provider, tool.capability)


def _may_answer(tool: ToolName, item: _Object) -> bool:
    """An error may leave out whose it is; it may not name another."""
    names = ((item.get("provider"), tool.provider), (item.get("capability"), tool.capability))
    return all(said in (None, wanted) for said, wanted in names)


def _tool(entry: _Object) -> Tool | None:
    """None for a tool that cannot be called by its names. Raises `Refused` for one that has none."""
    provider, capability = _names(entry)
    if not is_usable(provider) or not is_usable(capability):
        return None
    per_record = entry.get("perRecord")
    return Tool(
        id=_line(entry.get("id"), limit=MAX_NAME_CHARACTERS) or None,
        tool=ToolName(provider, capability),
        name=_line(entry.get("name"), limit=MAX_NAME_CHARACTERS) or capability,
        description=_text(entry.get("description"), limit=_MAX_DESCRIPTION_CHARACTERS),
        price=Price(
            credits=_credits(entry.get("creditsCost")), per_record=per_record if isinstance(per_record, bool) else None
        ),
        options=_options(entry.get("options")),
        requires_one_of=_groups(entry.get("requiresOneOf")),
    )


def _names(entry: _Object) -> tuple[str, str]:
    provider, capability = entry.get("provider"), entry.get("capability")
    if not isinstance(provider, str) or not isinstance(capability, str):
        raise _broken()
    return provider, capability


def _named(entry: _Object) -> _Object:
    """An entry of the catalogue that names its tool only in the call that it proposes next."""
    following = entry.get("next")
    if "provider" in entry or not isinstance(following, dict):
        return entry
    return {**entry, "provider": following.get("provider"), "capability": following.get("capability")}


def _options(value: JsonValue) -> tuple[ToolOption, ...]:
    listed = value[:_MAX_OPTIONS] if isinstance(value, list) else []
    return tuple(_option(each) for each in listed if isinstance(each, dict) and _line(each.get("name"), limit=1))


def _option(entry: _Object) -> ToolOption:
    others = [(_line(name, limit=64), value) for name, value in entry.items() if name not in _OF_AN_OPTION]
    rules = {name: shown for name, value in others[:_MAX_RULES] if (shown := _rule(value)) is not None}
    return ToolOption(
        name=_line(entry.get("name"), limit=MAX_NAME_CHARACTERS),
        type=_line(entry.get("type"), limit=64),
        about=_text(entry.get("about"), limit=_MAX_ABOUT_CHARACTERS),
        required=entry.get("required") is True,
        rules=rules,
    )


def _rule(value: JsonValue) -> JsonValue:
    """A number, a flag, a short text, or a list of these; None for what is left out."""
    if isinstance(value, list):
        return [
            shown for each in value[:_MAX_CHOICES] if not isinstance(each, list) and (shown := _rule(each)) is not None
        ]
    if isinstance(value, str):
        return _line(value, limit=MAX_NAME_CHARACTERS)
    return value if isinstance(value, bool | int | float) else None


def _groups(value: JsonValue) -> tuple[tuple[str, ...], ...]:
    groups = value[:_MAX_GROUPS] if isinstance(value, list) else []
    return tuple(
        tuple(name for each in group[:_MAX_OPTIONS] if (name := _line(each, limit=MAX_NAME_CHARACTERS)))
        for group in groups
        if isinstance(group, list)
    )


def _credits(value: JsonValue) -> int | None:
    """A whole number of credits; anything else is no price."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and isinstance(value, int) and 0 <= value <= MAX_CREDITS else None


def _line(value: JsonValue, *, limit: int) -> str:
    return cut(" ".join(plain(value).split()), limit=limit) if isinstance(value, str) else ""


def _text(value: JsonValue, *, limit: int) -> str:
    return cut(plain(value).strip(), limit=limit) if isinstance(value, str) else ""


def _successful(document: _Object | None) -> _Object:
    if document is None or document.get("success") is not True:
        raise _broken()
    return document


def _checked(entry: JsonValue) -> _Object:
    if not isinstance(entry, dict):
        raise _broken()
    return entry


def _broken() -> Refused:
    return Refused("invalid_response")
