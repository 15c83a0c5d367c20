"""Holds an answer against the frozen schema, and says of each fault which requirement it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from knowledge_conformance.requirements import frozen_json

_TYPES = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
_WORDS = {
    "pattern": "is out of shape",
    "format": "is out of shape",
    "not": "has control characters",
    "enum": "is none of the words that it may be",
    "minLength": "is empty or too short",
}
_OF_ANSWERS = {"contractVersion": "answer.version", "results": "answer.results"}


@dataclass(frozen=True, slots=True)
class Fault:
    """`about` is a requirement's id. `words` name place and kind, and repeat no value."""

    about: str
    words: str


def faults_of_answer(document: Any) -> list[Fault]:
    return [fault for error in _validator("response").iter_errors(document) for fault in _faults(error)]


def faults_of_declaration(document: Any) -> list[str]:
    return [
        words
        for error in _validator("capabilities").iter_errors(document)
        for place, words in _told(error)
        if place[:1] != ["contractVersion"]
    ]


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(frozen_json(f"{name}.schema.json"))


def _faults(error: ValidationError) -> Iterator[Fault]:
    for place, words in _told(error):
        yield Fault(_about(place, str(error.validator)), words)


def _about(place: list[Any], keyword: str) -> str:
    """`results[3].chunkId` is about `result.chunk-id`; a result that is no object, about the list."""
    if len(place) < 3:
        return _OF_ANSWERS.get(str(place[0]) if place else "", "answer.results")
    if place[2] == "snippet" and keyword == "maxLength":
        return "result.snippet-length"
    return "result." + re.sub("[A-Z]", lambda match: "-" + match[0].lower(), str(place[2]))


def _told(error: ValidationError) -> Iterator[tuple[list[Any], str]]:
    """Place and words. Of several missing fields, each; the schema's own fields alone are ever named."""
    place = list(error.absolute_path)
    if error.validator == "required":
        name = re.match(r"'([A-Za-z]+)' is a required property", error.message)
        missing = [*place, name[1] if name else ""]
        yield missing, f"{_path(missing)} is missing"
    else:
        yield place, f"{_path(place) or 'the answer'} {_words(error)}"


def _words(error: ValidationError) -> str:
    keyword = str(error.validator)
    if keyword in ("type", "const"):
        return f"is {kind_of(error.instance)}, not what it has to be"
    if keyword == "maxLength":
        return f"has {len(error.instance)} characters; the most are {error.validator_value}"
    return _WORDS.get(keyword, "is not what it has to be")


def kind_of(value: Any) -> str:
    return _TYPES.get(type(value), "a number")


def _path(place: list[Any]) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in place]
    return "".join(parts).removeprefix(".")
