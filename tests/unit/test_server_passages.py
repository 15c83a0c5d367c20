"""From what a self-hosted server found to passages, and what its requests have in common."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.answer_bodies import object_in
from shared.domain.exposure import Audience, ExposureProfile
from shared.domain.passages import Evidence, Passage, Warning_
from shared.domain.registrations import Source
from shared.domain.server_passages import (
    Made,
    Piece,
    audience_of,
    count_of,
    is_remote_id,
    is_short,
    one_line,
    passage_of,
    retrieval_of,
    score_of,
)
from shared.domain.server_requests import path_segment, server_headers
from shared.domain.strict_json import JsonValue, NotStrictJson, parse
from shared.errors import Refused
from tests.support.builders import a_source

INTERNAL = a_source(exposure_profile=ExposureProfile.AGENT_ONLY)
PUBLIC = a_source(exposure_profile=ExposureProfile.CUSTOMER_SAFE)


def a_piece(**over: Any) -> Piece:
    values = {"text": "Huts open in June.", "within": "kb-1", "title": "huts.md", "document_id": "d-1"}
    return Piece(**values | over)


def made(piece: Piece, *, source: Source = INTERNAL, limit: int = 4_000) -> Made:
    return passage_of(piece, source=source, max_snippet_characters=limit)


def passage(piece: Piece, **over: Any) -> Passage:
    found = made(piece, **over).passage
    assert found is not None
    return found


def test_a_piece_becomes_a_passage() -> None:
    piece = a_piece(chunk_id="c-1", score=0.5, evidence=Evidence.DERIVED_CONTEXT)
    assert made(piece) == Made(
        Passage(
            document_id="d-1",
            title="huts.md",
            snippet="Huts open in June.",
            audience=Audience.INTERNAL,
            evidence=Evidence.DERIVED_CONTEXT,
            chunk_id="c-1",
            score=0.5,
        )
    )


@pytest.mark.parametrize("document_id", [None, ""])
def test_where_no_document_is_named_the_knowledge_base_stands_for_it(document_id: str | None) -> None:
    assert passage(a_piece(document_id=document_id)).document_id == "kb-1"


@pytest.mark.parametrize("title", [None, "", " \n\t "])
def test_a_title_that_is_missing_stays_empty(title: str | None) -> None:
    assert passage(a_piece(title=title)).title == ""


def test_only_a_customer_safe_registration_is_public() -> None:
    assert audience_of(PUBLIC) is passage(a_piece(), source=PUBLIC).audience is Audience.PUBLIC
    assert audience_of(INTERNAL) is passage(a_piece(), source=INTERNAL).audience is Audience.INTERNAL
    assert audience_of(a_source(id="cs_broken")) is Audience.INTERNAL


def test_a_text_of_just_the_limit_is_whole() -> None:
    found = made(a_piece(text="x" * 100), limit=100)
    assert found.passage is not None
    assert (found.passage.truncated, found.warnings) == (False, ())


def test_a_longer_text_is_cut_and_says_so() -> None:
    found = made(a_piece(text="x" * 101), limit=100)
    assert found.passage is not None
    assert (found.passage.snippet, found.passage.truncated) == ("x" * 100, True)
    assert found.warnings == (Warning_.SNIPPET_CUT,)


def test_what_plain_text_loses_is_no_cut() -> None:
    assert passage(a_piece(text="a\x00\r\nb"), limit=3) == passage(a_piece(text="a\nb"))


@pytest.mark.parametrize(
    "over",
    [{"text": ""}, {"text": " \r\n\x00"}, {"title": "t" * 513}, {"document_id": "d" * 513}, {"document_id": "a\nb"}],
    ids=["no_text", "blank_text", "long_title", "long_document", "document_with_a_line_end"],
)
def test_a_piece_that_cannot_be_shown_is_dropped_alone(over: dict[str, Any]) -> None:
    assert made(a_piece(**over)) == Made(None, (Warning_.RESULT_DROPPED,))
    both = retrieval_of([a_piece(**over), a_piece()], source=INTERNAL, limit=5, max_snippet_characters=4_000)
    assert (both.passages, both.warnings) == ((passage(a_piece()),), (Warning_.RESULT_DROPPED,))


@pytest.mark.parametrize("chunk_id", ["", "c" * 513, "a\tb", "a\x7fb"], ids=["empty", "long", "tab", "control"])
def test_an_identifier_of_a_chunk_that_is_none_is_left_out(chunk_id: str) -> None:
    found = made(a_piece(chunk_id=chunk_id))
    assert found.passage == passage(a_piece())
    assert found.warnings == (Warning_.FIELD_DROPPED,)


def test_the_first_ones_are_kept_in_their_order_and_each_warning_comes_once() -> None:
    pieces = [a_piece(text=f"{n}" * 9, chunk_id="c" * 513) for n in range(5)]
    found = retrieval_of(pieces, source=INTERNAL, limit=3, max_snippet_characters=4)
    assert [each.snippet for each in found.passages] == ["0000", "1111", "2222"]
    assert found.warnings == (Warning_.SURPLUS_CUT, Warning_.SNIPPET_CUT, Warning_.FIELD_DROPPED)


@pytest.mark.parametrize(("value", "score"), [(None, None), (0, 0.0), (0.0, 0.0), (-1.5, -1.5), (10**60, 1e60)])
def test_a_score_is_what_the_server_says(value: Any, score: float | None) -> None:
    assert score_of(value) == score
    assert value is None or isinstance(score_of(value), float)


@pytest.mark.parametrize("value", [True, False, "0.5", "", [], {}, [0.5]])
def test_what_is_no_number_fails_the_answer(value: Any) -> None:
    with pytest.raises(Refused, match="invalid_response"):
        score_of(value)


def test_names_are_plain_and_on_one_line() -> None:
    assert one_line(" a\x00\r\n b\t\tc ") == "a b c"
    assert one_line("abcdef", limit=3) == "abc"
    assert one_line("abc", limit=3) == "abc"


@pytest.mark.parametrize("text", ["a", "a" * 128, "ein Ordner", "山", "a/b?c#d"])
def test_ids_that_can_be_bound(text: str) -> None:
    assert is_remote_id(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a" * 129,
        " a",
        "a ",
        "a\nb",
        "a\tb",
        "\x00",
        " ",
        ".",
        "..",
        "a\u202eb",
        "a\u200bb",
        "\ufeffa",
        "a\u2028b",
        "\ud800",
    ],
    ids=ascii,
)
def test_ids_that_cannot_be_bound(text: str) -> None:
    assert not is_remote_id(text)


@pytest.mark.parametrize(
    ("value", "count"),
    [(0, 0), (2**53 - 1, 2**53 - 1), (2**53, None), (10**60, None), (-1, None), (True, None), (1.0, None), ("1", None)],
)
def test_a_count_is_one_that_everybody_reads_alike(value: JsonValue, count: int | None) -> None:
    assert count_of(value) == count


def test_an_identifier_has_at_most_512_characters() -> None:
    assert is_short("a" * 512)
    assert not is_short("a" * 513)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_an_id_is_one_segment_of_a_path_or_none(remote_id: str) -> None:
    if not remote_id.strip("."):
        with pytest.raises(Refused, match="not_found"):
            path_segment(remote_id)
        return
    segment = path_segment(remote_id)
    assert segment.isascii()
    assert segment.isprintable()
    assert not set(segment) & set("/?#\\ ;:@&=+")
    assert unquote(segment) == remote_id


def test_headers_with_and_without_a_body() -> None:
    without = (("Authorization", "Bearer k-1"), ("Accept", "application/json"), ("User-Agent", "knowledge-gateway/1"))
    assert server_headers("k-1", has_body=False) == without
    assert server_headers("k-1", has_body=True) == (*without, ("Content-Type", "application/json"))
    assert server_headers(None, has_body=False) == without[1:]


@pytest.mark.parametrize("credential", ["a\nb", "a\r\nb: c", "a\x00", "ä", "a\t"])
def test_a_credential_that_cannot_stand_in_a_header(credential: str) -> None:
    with pytest.raises(Refused, match="not_configured") as caught:
        server_headers(credential, has_body=True)
    assert credential not in repr(caught.value)


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999"])
def test_a_number_that_is_not_finite_can_be_read_as_null(number: bytes) -> None:
    text = b'{"score": ' + number + b', "rest": [1.5, "NaN"]}'
    assert parse(text, not_finite_is_null=True) == {"score": None, "rest": [1.5, "NaN"]}
    assert object_in(text, not_finite_is_null=True) == {"score": None, "rest": [1.5, "NaN"]}
    assert object_in(text) is None
    with pytest.raises(NotStrictJson):
        parse(text)


@pytest.mark.parametrize("text", [b'{"a":1,"a":2}', b"[" * 33 + b"]" * 33, b'{"a": ' + b"1" * 65 + b"}", b'"\xff"'])
def test_everything_else_stays_strict(text: bytes) -> None:
    with pytest.raises(NotStrictJson):
        parse(text, not_finite_is_null=True)
