"""Cuts a file of cards into pieces that one request may carry. What a row says is for the gateway to judge."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from infra.cli.ending import Told
from shared.web.card_rows import COLUMNS
from shared.web.csv_rows import other_separator

MOST_ROWS = 200
MOST_BYTES = 1_000_000  # of the mebibyte that a request may have
_MOST_CELL = 1 << 26
JSON_LINES = "application/x-ndjson"
CSV = "text/csv"


class Unsliceable(Told):
    """The file cannot be read, or its rows cannot be told apart."""


@dataclass(frozen=True, slots=True)
class Slice:
    """`first` is the number of its first row in the file, counted from 1. `header` stands before the rows."""

    first: int
    media_type: str
    rows: tuple[bytes, ...] = field(repr=False)
    header: bytes = field(default=b"", repr=False)

    @property
    def body(self) -> bytes:
        return self.header + b"".join(self.rows)

    def of(self, places: list[int]) -> Slice:
        """The rows at these places alone."""
        return Slice(self.first, self.media_type, tuple(self.rows[place] for place in places), self.header)


def slices(path: Path) -> Iterator[Slice]:
    """By its name a file is a table (`.csv`) or JSON Lines. Raises `Unsliceable`."""
    media_type = CSV if path.suffix.lower() == ".csv" else JSON_LINES
    try:
        yield from _gathered(_records(path) if media_type == CSV else _lines(path), media_type)
    except OSError as error:
        raise Unsliceable(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Unsliceable(f"{path} is not UTF-8.") from None
    except csv.Error as error:
        raise Unsliceable(f"{path} is no table of comma-separated values: {error}.") from None


def count_rows(path: Path) -> int:
    """Raises `Unsliceable`."""
    return sum(len(piece.rows) for piece in slices(path))


def _lines(path: Path) -> Iterator[tuple[bytes, bytes]]:
    with path.open("rb") as file:
        for number, line in enumerate(file):
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line
            if text.strip():
                yield b"", text.rstrip(b"\r\n") + b"\n"


def _records(path: Path) -> Iterator[tuple[bytes, bytes]]:
    csv.field_size_limit(_MOST_CELL)
    with path.open(encoding="utf-8-sig", newline="") as file:
        if other := other_separator(file.readline(), columns=COLUMNS):
            raise Unsliceable(f"The columns of {path} are parted by {other}; part them by commas.")
        file.seek(0)
        filled = (cells for cells in csv.reader(file, strict=True) if any(map(str.strip, cells)))
        header = _record(next(filled, []))
        for cells in filled:
            yield header, _record(cells)


def _record(cells: list[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()


def _gathered(rows: Iterator[tuple[bytes, bytes]], media_type: str) -> Iterator[Slice]:
    gathered: list[bytes] = []
    size, first, header = 0, 1, b""
    for head, row in rows:
        header = head
        if gathered and (len(gathered) == MOST_ROWS or size + len(row) > MOST_BYTES):
            yield Slice(first, media_type, tuple(gathered), header)
            first += len(gathered)
            gathered, size = [], 0
        gathered.append(row)
        size += len(row)
    if gathered:
        yield Slice(first, media_type, tuple(gathered), header)
