"""The base of all wire models, and reading one from a request body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from shared.domain.strict_json import NotStrictJson, parse
from shared.errors import BadRequest, Invalid, Violation
from shared.web.events import Event, body_of


class WireModel(BaseModel):
    """camelCase on the wire, snake_case in Python; unknown fields refused; no coercion (`"5"` is not 5)."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        extra="forbid",
        strict=True,
        frozen=True,
        use_enum_values=False,
    )


class AdminModel(WireModel):
    """What admins send and are shown. There are many such models, of which a process uses few: each is built when it is
    first used.
    """

    model_config = ConfigDict(defer_build=True)


Model = TypeVar("Model", bound=BaseModel)

# A body of nothing but mistakes must not become an answer larger than a function may give.
_MAX_VIOLATIONS = 20
_MAX_POINTER_CHARACTERS = 200
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MEDIA_TYPES = frozenset({"", "application/json"})
_WORDS = {
    "not_utf8": "The {thing} is not UTF-8.",
    "not_json": "The {thing} is not JSON.",
    "too_deep": "The {thing} is nested too deeply.",
    "duplicate_key": "An object in the {thing} has the same key twice.",
    "not_finite": "The {thing} has a number that is not finite.",
    "number_too_long": "The {thing} has a number with too many digits.",
    "lone_surrogate": "The {thing} has an unpaired surrogate.",
}


def check_media_type(event: Event) -> None:
    """Raises `BadRequest` for a body that is said to be anything but JSON."""
    media_type = event["headers"].get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in _MEDIA_TYPES:
        raise BadRequest("Send the body as application/json.", code="unsupported_media_type")


def read_body(model: type[Model], event: Event, *, empty: bool = False) -> Model:
    """The request body as `model`. `empty` lets a missing body stand for `{}`.

    Raises `BadRequest` for what is not JSON, `Invalid` (422) naming each wrong field.
    """
    check_media_type(event)
    data = body_of(event)
    if not data.strip() and empty:
        data = b"{}"
    return read_object(model, data, thing="body")


def read_object(model: type[Model], data: bytes, *, thing: str) -> Model:
    """The JSON object in `data`, a caller's `thing`, as `model`. Raises like `read_body`."""
    try:
        value = parse(data)
    except NotStrictJson as error:
        raise BadRequest(json_words(error, thing), code="body_not_json") from None
    if not isinstance(value, dict):
        raise BadRequest(f"The {thing} is not a JSON object.", code="body_not_json")
    return validated(model, data)


def json_words(error: NotStrictJson, thing: str) -> str:
    """What is wrong with a `body` or a `row`, as a sentence for the caller."""
    return _WORDS[error.reason].format(thing=thing)


def validated(model: type[Model], data: bytes) -> Model:
    """JSON bytes as `model`, or `Invalid` with one violation a wrong field. No value of the caller's is repeated."""
    sent = data.removeprefix(_BYTE_ORDER_MARK)
    try:
        # From JSON, so that strict mode still reads enums, tuples and dates the way JSON can write them.
        # By its wire name alone: a second spelling would be a second field that says the opposite.
        return model.model_validate_json(sent, by_alias=True, by_name=False)
    except ValidationError as error:
        value = parse(sent)
        violations = tuple(
            Violation(
                pointer=_pointer(_sent(item["loc"], value)),
                detail=_sentence(item["type"], item["msg"], item.get("ctx", {})),
            )
            for item in _own_faults(error.errors(include_url=False, include_input=False))[:_MAX_VIOLATIONS]
        )
        raise Invalid("Correct the fields named in `errors`.", violations=violations) from None


def _own_faults(errors: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Without lists that are only too short because wrong entries of theirs do not count."""
    wrong = {error["loc"][:depth] for error in errors for depth in range(len(error["loc"]))}
    return [error for error in errors if error["type"] != "too_short" or error["loc"] not in wrong]


def _sent(location: tuple[int | str, ...], value: object) -> tuple[int | str, ...]:
    """Without the names of kinds that a model has chosen by, which stand in no request."""
    kept: list[int | str] = []
    for depth, part in enumerate(location, start=1):
        inside = _inside(value, part)
        if inside or depth == len(location):
            kept.append(part)
        if inside:
            value = inside[0]
    return tuple(kept)


def _inside(value: object, part: int | str) -> tuple[object, ...]:
    """What is there, alone; nothing where nothing is."""
    if isinstance(value, dict):
        return (value[part],) if part in value else ()
    return (value[part],) if isinstance(value, list) and isinstance(part, int) and part < len(value) else ()


def _pointer(location: tuple[int | str, ...]) -> str:
    pointer = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in location)
    return pointer[:_MAX_POINTER_CHARACTERS]


def _sentence(kind: str, message: str, context: Mapping[str, Any]) -> str:
    if kind == "extra_forbidden":
        return "This field is not known here."
    if kind == "missing":
        return "This field is required."
    if kind == "too_long":
        return f"At most {_items(context['max_length'])} allowed."
    if kind == "too_short":
        return f"At least {_items(context['min_length'])} required."
    return message.removeprefix("Value error, ") + "."


def _items(count: int) -> str:
    return f"{count} item is" if count == 1 else f"{count} items are"
