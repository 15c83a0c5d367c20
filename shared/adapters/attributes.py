"""Values as the tables hold them. Hand-written: the mapping is on the path of every search.

Reading raises `KeyError`, `TypeError` or `ValueError` where an item lacks something or says it in an unknown way.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

Item: TypeAlias = "Mapping[str, AttributeValueTypeDef]"
NewItem: TypeAlias = "dict[str, AttributeValueTypeDef]"
T = TypeVar("T")


def text(value: str) -> AttributeValueTypeDef:
    return {"S": value}


def number(value: float) -> AttributeValueTypeDef:
    """A whole number as such, any other with all its digits, so that it is read back unchanged."""
    return {"N": repr(value)}


def flag(value: bool) -> AttributeValueTypeDef:  # noqa: FBT001  # the value, not a mode
    return {"BOOL": value}


def texts(values: Iterable[str]) -> AttributeValueTypeDef:
    return {"L": [{"S": value} for value in values]}


def blob(value: bytes) -> AttributeValueTypeDef:
    return {"B": value}


def text_of(item: Item, name: str) -> str:
    return item[name]["S"]


def whole_of(item: Item, name: str) -> int:
    return int(item[name]["N"])


def number_of(item: Item, name: str) -> float:
    return float(item[name]["N"])


def flag_of(item: Item, name: str) -> bool:
    value = item[name]["BOOL"]
    if not isinstance(value, bool):
        raise TypeError(name)
    return value


def texts_of(item: Item, name: str) -> tuple[str, ...]:
    return tuple(member["S"] for member in item[name]["L"])


def blob_of(item: Item, name: str) -> bytes:
    """As it is on the wire, or as it was put."""
    value: object = item[name]["B"]
    if isinstance(value, str):
        return base64.b64decode(value, validate=True)
    if not isinstance(value, bytes):
        raise TypeError(name)
    return value


def optional(item: Item, name: str, read: Callable[[Item, str], T]) -> T | None:
    """What `read` finds, or None where the attribute is absent. Present but wrong still raises."""
    return read(item, name) if name in item else None
