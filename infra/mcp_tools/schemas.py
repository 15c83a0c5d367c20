"""Wire models as JSON Schemas that stand for themselves: no reference, no title that is only a field's name."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel

Schema = dict[str, Any]
Mode = Literal["validation", "serialization"]
_REFERENCE = "#/$defs/"
# All that is said of an argument, in this order: what every maker of models reads, strict function calling included.
PLAIN: Final = (
    "type",
    "description",
    "enum",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "maxItems",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
)


def schema_of(model: type[BaseModel], mode: Mode) -> Schema:
    """In the dialect that the protocol takes where none is named, 2020-12; some clients fail at its name. In answers
    further fields are let pass, so that a client that keeps a schema takes the next version's answers.
    """
    whole = model.model_json_schema(mode=mode, by_alias=True)
    definitions: dict[str, Schema] = whole.pop("$defs", {})
    inlined: Schema = _inlined(whole, definitions, is_open=mode == "serialization")
    return inlined


def described(schema: Schema, words: dict[str, str]) -> Schema:
    """With these words for the fields, in their order, and none for the whole, for which the tool has its own. Raises
    `KeyError` for a field without words, or words without a field.
    """
    properties: dict[str, Schema] = schema["properties"]
    if missing := properties.keys() ^ words.keys():
        raise KeyError(f"fields and words do not fit together: {sorted(missing)}")
    told = {name: {**properties[name], "description": said} for name, said in words.items()}
    return {**{key: value for key, value in schema.items() if key != "description"}, "properties": told}


def plain(schema: Schema) -> Schema:
    """What is taken, told by one type a node: that `null` leaves an argument out goes without saying, and so does what
    no schema says well, such as which characters a line may have. It is refused all the same. Raises `ValueError` where
    there is a choice between two types.
    """
    said = _but_null(schema)
    kept: Schema = {key: said[key] for key in PLAIN if key in said}
    if "properties" in kept:
        kept["properties"] = {name: plain(each) for name, each in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = plain(kept["items"])
    return kept


def _but_null(schema: Schema) -> Schema:
    """The words beside a choice are for all of it."""
    (only,) = (each for each in schema.get("anyOf", [schema]) if each.get("type") != "null")
    return {**only, **{key: value for key, value in schema.items() if key == "description"}}


def _inlined(node: Any, definitions: dict[str, Schema], *, is_open: bool) -> Any:
    if isinstance(node, list):
        return [_inlined(each, definitions, is_open=is_open) for each in node]
    if not isinstance(node, dict):
        return node
    if reference := node.get("$ref"):
        target = definitions[reference.removeprefix(_REFERENCE)]
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _inlined({**target, **beside}, definitions, is_open=is_open)
    return {
        key: _fields(value, definitions, is_open=is_open)
        if key == "properties"
        else _inlined(value, definitions, is_open=is_open)
        for key, value in node.items()
        if not _is_noise(key, value, is_open=is_open)
    }


def _fields(properties: dict[str, Schema], definitions: dict[str, Schema], *, is_open: bool) -> dict[str, Schema]:
    """By name: one of them may be `title`."""
    return {name: _inlined(each, definitions, is_open=is_open) for name, each in properties.items()}


def _is_noise(key: str, value: object, *, is_open: bool) -> bool:
    return (key == "title" and isinstance(value, str)) or (is_open and key == "additionalProperties" and value is False)
