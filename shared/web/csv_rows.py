"""Comma-separated values (RFC 4180) as records: one a row, each a mapping of column to text. A cell is text, always."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping

from shared.errors import BadRequest
from shared.web.events import MAX_BODY_BYTES

# A cell may be as long as a whole body: what is too long is refused with its row, not with the file.
csv.field_size_limit(MAX_BODY_BYTES)

_OTHER_SEPARATORS = {";": "semicolons (;)", "\t": "tabs", "|": "bars (|)"}


def csv_records(data: bytes, *, columns: Iterable[str], required: Iterable[str]) -> Iterator[Mapping[str, str] | None]:
    """The records behind the header; None stands for a row whose number of cells is not that of the header.

    The header names columns in any order, in upper or lower case. Rows of empty cells are skipped. Raises `BadRequest`
    (`body_not_csv`) where rows cannot be told apart, and for a header with an unknown, missing or repeated column.
    """
    text, columns = _text(data), frozenset(columns)
    if (other := other_separator(text, columns=columns)) is not None:
        raise BadRequest(f"The columns are parted by {other}; part them by commas.", code="body_not_csv")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        filled = (cells for cells in reader if any(map(str.strip, cells)))
        header = _header(next(filled, []), columns=columns, required=frozenset(required))
        for cells in filled:
            yield dict(zip(header, cells, strict=True)) if len(cells) == len(header) else None
    except csv.Error:
        raise BadRequest(
            f"The quotes do not match, or there is text beside them, at line {reader.line_num} or before.",
            code="body_not_csv",
        ) from None


def other_separator(text: str, *, columns: Iterable[str]) -> str | None:
    """What parts the names of the first line, in words, where it is something else that spreadsheets write."""
    first = text.lstrip().partition("\n")[0].lower()
    for separator, words in _OTHER_SEPARATORS.items():
        names = {name.strip().strip('"').strip() for name in first.split(separator)}
        if len(names) > 1 and names <= set(columns):
            return words
    return None


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadRequest("The body is not UTF-8.", code="body_not_csv") from None


def _header(cells: list[str], *, columns: frozenset[str], required: frozenset[str]) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    if len(set(names)) != len(names) or not required <= set(names) <= columns:
        wanted = ", ".join(sorted(columns))
        raise BadRequest(
            f"The first line names the columns, out of {wanted}, each once; {' and '.join(sorted(required))} have to be"
            " there.",
            code="body_not_csv",
        )
    return names
