"""How many units of capacity a call of DynamoDB takes, reckoned from the sizes of its rows by the service's own rule.

The rule is of the developer guide's pages "DynamoDB item sizes and formats" and "DynamoDB read and write operations":
a strongly consistent read takes a unit for each 4 KiB begun, a write one for each 1 KiB begun of what was there or is
there then, whichever is larger. A row that is not there takes one. Of a batch each row is rounded up by itself, of a
Query all rows together. A transaction takes twice as much. Reading some attributes takes as much as reading all.

The embedded backend reports one unit for every Query, however much it read, so that its own figures are not used.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

Row: TypeAlias = Mapping[str, Mapping[str, Any]]

READ_UNIT_BYTES: Final = 4_096
WRITE_UNIT_BYTES: Final = 1_024
TRANSACTION: Final = 2
_OF_LIST_OR_MAP: Final = 3


def row_bytes(row: Row) -> int:
    """Names and values, in UTF-8."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in row.items())


def rows_read_units(sizes: Iterable[int]) -> int:
    """Rows read by their keys, alone or in a batch; a missing one has no bytes."""
    return sum(_units(size, READ_UNIT_BYTES) for size in sizes)


def query_units(sizes: Iterable[int]) -> int:
    """All rows that one page of a Query looked at, none of them included."""
    return _units(sum(sizes), READ_UNIT_BYTES)


def rows_written_units(sizes: Iterable[tuple[int, int]]) -> int:
    """Rows put, changed or deleted: the size that each had and the one that it has now, 0 where it was or is not."""
    return sum(_units(max(before, after), WRITE_UNIT_BYTES) for before, after in sizes)


def _units(size: int, of_bytes: int) -> int:
    return max(1, -(-size // of_bytes))


def _value_bytes(value: Mapping[str, Any]) -> int:
    [(kind, held)] = value.items()
    if kind in ("L", "M"):
        return _OF_LIST_OR_MAP + _nested_bytes(held)
    if kind in ("SS", "NS", "BS"):
        return sum(_value_bytes({kind[0]: each}) for each in held)
    return _scalar_bytes(kind, held)


def _nested_bytes(held: Mapping[str, Any] | Sequence[Any]) -> int:
    """Each member has a byte of its own beside its name and value."""
    if isinstance(held, Mapping):
        return sum(1 + len(name.encode()) + _value_bytes(member) for name, member in held.items())
    return sum(1 + _value_bytes(member) for member in held)


def _scalar_bytes(kind: str, held: Any) -> int:
    if kind == "S":
        return len(held.encode())
    if kind == "N":
        return _number_bytes(held)
    return len(base64.b64decode(held)) if kind == "B" else 1  # NULL and BOOL


def _number_bytes(text: str) -> int:
    """A byte for two digits, without zeroes before and behind, and one more; a minus takes another."""
    sign, digits, _ = Decimal(text).normalize().as_tuple()
    return -(-len(digits) // 2) + 1 + sign
