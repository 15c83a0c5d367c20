"""A file of cards is cut into pieces that one request may carry, and no row is lost, joined or parted."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infra.cli import row_slices
from infra.cli.row_slices import CSV, JSON_LINES, MOST_BYTES, MOST_ROWS, Unsliceable, count_rows, slices
from shared.web.card_rows import read_rows
from shared.web.events import MAX_BODY_BYTES


def test_lines_are_cut_into_slices_of_as_many_rows_as_a_request_may_have(tmp_path: Path) -> None:
    file = tmp_path / "cards.jsonl"
    rows = [json.dumps({"keys": [f"key {number}"], "body": "é"}, ensure_ascii=False) for number in range(450)]
    file.write_text("\ufeff\n" + "\r\n\r\n".join(rows), encoding="utf-8")
    pieces = list(slices(file))

    assert [len(piece.rows) for piece in pieces] == [MOST_ROWS, MOST_ROWS, 50]
    assert [piece.first for piece in pieces] == [1, 201, 401]
    assert {piece.media_type for piece in pieces} == {JSON_LINES}
    assert b"".join(piece.body for piece in pieces).decode().splitlines() == rows
    assert count_rows(file) == 450


def test_large_rows_make_smaller_slices(tmp_path: Path) -> None:
    file = tmp_path / "cards.jsonl"
    file.write_text("".join(json.dumps({"keys": ["k"], "body": "x" * 30_000}) + "\n" for _ in range(100)))

    assert all(len(piece.body) <= MOST_BYTES for piece in slices(file))
    assert sum(len(piece.rows) for piece in slices(file)) == 100


def test_a_row_that_no_request_could_carry_is_a_slice_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "cards.jsonl"
    file.write_text('{"a":1}\n' + "x" * (MAX_BODY_BYTES + 1) + '\n{"b":2}\n')

    assert [len(piece.rows) for piece in slices(file)] == [1, 1, 1]


def test_a_table_keeps_its_header_in_each_slice(tmp_path: Path) -> None:
    file = tmp_path / "Cards.CSV"
    with file.open("w", encoding="utf-8-sig", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["keys", "body"])
        writer.writerows([f"key {number}", f'line one,\r\n"line" {number}'] for number in range(250))
    pieces = list(slices(file))

    assert [(piece.media_type, len(piece.rows), piece.first) for piece in pieces] == [(CSV, 200, 1), (CSV, 50, 201)]
    for piece in pieces:
        table = list(csv.reader(io.StringIO(piece.body.decode(), newline="")))
        assert table[0] == ["keys", "body"]
    assert table[-1] == ["key 249", 'line one,\r\n"line" 249']


def test_some_rows_of_a_slice_can_be_sent_again(tmp_path: Path) -> None:
    file = tmp_path / "cards.csv"
    file.write_text("keys,body\na,1\nb,2\nc,3\n")
    (piece,) = slices(file)

    assert piece.of([0, 2]).body == b'"keys","body"\n"a","1"\n"c","3"\n'


@pytest.mark.parametrize("content", [b'keys,body\na,"b\n', b'keys,body\na,"b"c\n', b"keys,body\nf\xe4hre,x\n"])
def test_a_table_whose_rows_cannot_be_told_apart_is_said_to_be_one(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "cards.csv"
    file.write_bytes(content)

    with pytest.raises(Unsliceable, match=r"cards\.csv"):
        count_rows(file)


@pytest.mark.parametrize("header", ["\ufeffKeys;Body", '"keys";"body"', 'id;"keys" ;body'])
def test_a_table_with_another_separator_is_told_which(tmp_path: Path, header: str) -> None:
    file = tmp_path / "cards.csv"
    file.write_text(header + '\n"a";"b"\n', encoding="utf-8")

    with pytest.raises(Unsliceable, match=r"parted by semicolons \(;\); part them by commas"):
        count_rows(file)


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(Unsliceable, match="cannot be read"):
        count_rows(tmp_path / "none.jsonl")


def test_an_empty_file_has_no_slices(tmp_path: Path) -> None:
    for name in ("cards.jsonl", "cards.csv"):
        (tmp_path / name).write_text("\n")
        assert list(slices(tmp_path / name)) == []


def test_rows_of_empty_cells_are_no_rows_here_and_at_the_gateway(tmp_path: Path) -> None:
    file = tmp_path / "cards.csv"
    file.write_text(",\nkeys,body\na,1\n,\n , \n,,,\nb,2\n")
    (piece,) = slices(file)

    assert piece.rows == (b'"a","1"\n', b'"b","2"\n')
    event = {"headers": {"content-type": CSV}, "body": file.read_text()}
    assert [(row.number, getattr(row, "keys", None)) for row in read_rows(event)] == [(1, ("a",)), (2, ("b",))]


text = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(st.tuples(text, text), max_size=12), end=st.sampled_from(["\n", "\r\n"]))
def test_cut_or_whole_a_table_says_the_same(tmp_path: Path, rows: list[tuple[str, str]], end: str) -> None:
    file = tmp_path / "cards.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator=end, quoting=csv.QUOTE_ALL).writerows([("keys", "body"), *rows])

    def read(data: bytes) -> list[object]:
        event = {"headers": {"content-type": CSV}, "body": data.decode()}
        return [(getattr(row, "keys", None), getattr(row, "body", None)) for row in read_rows(event)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_slices, "MOST_ROWS", 3)
        cut = [row for piece in slices(file) for row in read(piece.body)]
    assert cut == read(file.read_bytes())
