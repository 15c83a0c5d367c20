"""Reads what a provider answered as strictly as the contract does, and goes on reading after a fault: each is told."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 32
_OUTSIDE = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)

NOT_UTF8 = "not_utf8"
NOT_JSON = "not_json"
REPEATED_KEY = "repeated_key"
NOT_FINITE = "not_finite"
TOO_DEEP = "too_deep"


@dataclass(frozen=True, slots=True)
class Reading:
    """`document` is None where there is no JSON to go on with. `faults` are words from above."""

    document: Any = field(repr=False)
    faults: frozenset[str]

    @property
    def is_json(self) -> bool:
        return not self.faults & {NOT_UTF8, NOT_JSON, TOO_DEEP}

    @property
    def results(self) -> list[Any]:
        """What stands under `results`, if that is a list."""
        found = self.document.get("results") if isinstance(self.document, dict) else None
        return found if isinstance(found, list) else []


def read(body: bytes) -> Reading:
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Reading(None, frozenset({NOT_UTF8}))
    if _depth(text) > MAX_DEPTH:
        return Reading(None, frozenset({TOO_DEEP}))
    faults = _Faults()
    try:
        document = faults.load(text)
    except (ValueError, RecursionError):
        return Reading(None, frozenset({NOT_JSON}))
    return Reading(document, frozenset(faults.found))


class _Faults:
    """Loads JSON and notes what strict JSON has not, instead of stopping at it."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def load(self, text: str) -> Any:
        """Raises `ValueError` for what is no JSON at all."""
        document = json.loads(
            text,
            object_pairs_hook=self._object,
            parse_float=self._float,
            parse_int=_int,
            parse_constant=self._constant,
        )
        try:
            json.dumps(document, ensure_ascii=False).encode()
        except UnicodeEncodeError:  # half a character, which JSON can spell and UTF-8 cannot
            self.found.add(NOT_UTF8)
        return document

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) != len(pairs):
            self.found.add(REPEATED_KEY)
        return fields

    def _float(self, digits: str) -> float | None:
        value = float(digits)
        if math.isfinite(value):
            return value
        self.found.add(NOT_FINITE)
        return None

    def _constant(self, _digits: str) -> None:
        self.found.add(NOT_FINITE)


def _int(digits: str) -> int:
    if len(digits) > 64:
        raise ValueError
    return int(digits)


def _depth(text: str) -> int:
    depth = deepest = 0
    for mark in re.findall(r"[\[\]{}]", _OUTSIDE.sub("", text)):
        depth += 1 if mark in "[{" else -1
        deepest = max(deepest, depth)
    return deepest
