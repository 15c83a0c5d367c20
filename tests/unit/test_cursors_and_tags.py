"""Cursors say where a list goes on and nothing else; entity tags say which version was read."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Invalid, PreconditionFailed, PreconditionMissing
from shared.web.cursors import List, cursor_of, sort_key_of
from shared.web.etags import etag_of, generation_named, required_generation

KEYS = {
    List.PROVIDERS: "cs_abcdefghijklmnop",
    List.CREDENTIALS: "abcdefghijklmnop",
    List.COLLECTIONS: "csc_abcdefghijklmnop",
    List.CARDS: "crd_abcdefghijklmnop",
    List.AUDIT: "2026-09-21T14:13:20.000123Z#0123abcd",
    List.INSTANCES: "aoi_abcdefghijklmnop",
}


def raw(content: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(content, separators=(",", ":")).encode()).decode().rstrip("=")


@pytest.mark.parametrize("which", List)
def test_a_cursor_leads_back_to_its_key(which: List) -> None:
    assert sort_key_of(which, cursor_of(which, KEYS[which])) == KEYS[which]


@pytest.mark.parametrize("which", List)
@pytest.mark.parametrize("other", List)
def test_a_cursor_of_another_list_is_refused(which: List, other: List) -> None:
    if which is not other:
        with pytest.raises(Invalid) as refused:
            sort_key_of(which, cursor_of(other, KEYS[other]))
        assert refused.value.code == "invalid_cursor"


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "!!!!",
        "é",
        "a" * 257,
        raw([2, "providers", "cs_abcdefghijklmnop"]),
        raw([1, "providers", "ANYTHING"]),
        raw([1, "providers", "cs_abcdefghijklmnop", "more"]),
        raw([1, "providers", 5]),
        raw({"v": 1}),
        raw([True, "providers", "cs_abcdefghijklmnop"]),
        cursor_of(List.PROVIDERS, "cs_abcdefghijklmnop") + "=",
        cursor_of(List.PROVIDERS, "cs_abcdefghijklmnop") + "\n",
        base64.urlsafe_b64encode(b'[1, "providers", "cs_abcdefghijklmnop"]').decode(),
        base64.urlsafe_b64encode(b'[1,"providers","cs_abcdefghijklmnop"]\xff').decode(),
    ],
)
def test_a_malformed_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(Invalid) as refused:
        sort_key_of(List.PROVIDERS, cursor)
    assert refused.value.code == "invalid_cursor"


@given(st.text(max_size=300))
def test_no_text_breaks_the_reading_of_a_cursor(text: str) -> None:
    with pytest.raises(Invalid):
        sort_key_of(List.PROVIDERS, text)


@given(st.integers(min_value=0, max_value=10**12))
def test_a_tag_leads_back_to_its_generation(generation: int) -> None:
    assert generation_named({"headers": {"if-match": etag_of(generation)}}) == generation


@pytest.mark.parametrize("header", ['W/"1"', '"00"', '"01"', '"x"', '""', '"99999999999999999"'])
def test_a_tag_that_no_version_has_matches_nothing(header: str) -> None:
    with pytest.raises(PreconditionFailed):
        generation_named({"headers": {"if-match": header}})


@pytest.mark.parametrize("header", ["", " ", "1", '"1', '1"', '"1","2"', "'1'", '"1" ;', "**"])
def test_what_is_no_tag_is_refused(header: str) -> None:
    with pytest.raises(Invalid) as refused:
        generation_named({"headers": {"if-match": header}})
    assert refused.value.code == "invalid_if_match"


@pytest.mark.parametrize("headers", [{}, {"if-match": "*"}])
def test_a_version_has_to_be_named_where_one_is_required(headers: dict[str, str]) -> None:
    with pytest.raises(PreconditionMissing):
        required_generation({"headers": headers})
