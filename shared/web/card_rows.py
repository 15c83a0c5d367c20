"""Reading the rows of an import: JSON Lines, or a table of comma-separated values.

A row that cannot be read is a row of the report. Only what keeps rows from being told apart refuses the whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice

from shared.domain.card_rows import MAX_ROWS, Row, UnreadableRow
from shared.domain.strict_json import NotStrictJson, parse
from shared.errors import BadRequest, Invalid, Violation
from shared.web.card_models import CardRow
from shared.web.csv_rows import csv_records
from shared.web.events import Event, body_of
from shared.web.wire import json_words, validated

JSON_LINES = "application/x-ndjson"
CSV = "text/csv"
KEY_SEPARATOR = "|"
COLUMNS = frozenset({"id", "keys", "title", "body"})
_REQUIRED = frozenset({"keys", "body"})

AnyRow = Row | UnreadableRow


def read_rows(event: Event) -> tuple[AnyRow, ...]:
    """The rows of the body, in order. Raises `BadRequest`, `BodyTooLarge`, and `Invalid` for more than 200 of them."""
    media_type, _, parameters = event["headers"].get("content-type", "").partition(";")
    readers = {JSON_LINES: _lines, CSV: _records}
    read = readers.get(media_type.strip().lower())
    if read is None or not _is_utf8(parameters):
        raise BadRequest(f"Send the rows as {JSON_LINES} or {CSV}, in UTF-8.", code="unsupported_media_type")
    rows = tuple(islice(read(body_of(event)), MAX_ROWS + 1))
    if len(rows) > MAX_ROWS:
        raise Invalid("Send fewer rows.", violations=(Violation("", f"At most {MAX_ROWS} rows are taken at once."),))
    return rows


def _is_utf8(parameters: str) -> bool:
    name, _, value = parameters.strip().partition("=")
    return name.strip().lower() != "charset" or value.strip().strip('"').lower() in ("utf-8", "utf8")


def _lines(data: bytes) -> Iterator[AnyRow]:
    filled = (line for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip())
    for number, line in enumerate(filled, start=1):
        yield _row(number, line)


def _records(data: bytes) -> Iterator[AnyRow]:
    for number, record in enumerate(csv_records(data, columns=COLUMNS, required=_REQUIRED), start=1):
        if record is None:
            yield _unreadable(number, "The row does not have as many cells as the header.")
        else:
            yield _row(number, json.dumps(_fields(record)).encode())


def _fields(record: Mapping[str, str]) -> dict[str, object]:
    """A cell is text, whatever it begins with. White space around an `id` or a key does not count, and an empty one
    is none.
    """
    keys = [part.strip() for part in record["keys"].split(KEY_SEPARATOR)]
    fields: dict[str, object] = {**record, "keys": [key for key in keys if key]}
    if "id" in record:
        fields["id"] = record["id"].strip() or None
    return fields


def _row(number: int, data: bytes) -> AnyRow:
    try:
        if not isinstance(parse(data), dict):
            return _unreadable(number, "The row is not a JSON object.")
        row = validated(CardRow, data)
    except NotStrictJson as error:
        return _unreadable(number, json_words(error, "row"))
    except Invalid as error:
        return UnreadableRow(number, error.violations)
    return Row(number=number, row_id=row.id, keys=row.keys, title=row.title, body=row.body)


def _unreadable(number: int, detail: str) -> UnreadableRow:
    return UnreadableRow(number, (Violation("", detail),))
