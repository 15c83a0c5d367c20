from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.budget import SNIPPET_BUDGET_CHARACTERS, shares, within_budget
from shared.domain.ordering import Found
from tests.support.builders import a_passage, a_source

lengths = st.lists(st.integers(0, 8000), max_size=50)


@given(lengths)
def test_the_texts_of_an_answer_never_exceed_the_budget(given_: list[int]) -> None:
    granted = shares(given_)
    assert sum(granted) <= SNIPPET_BUDGET_CHARACTERS
    assert all(0 <= share <= length for share, length in zip(granted, given_, strict=True))


@given(lengths)
def test_nothing_is_cut_while_everything_fits(given_: list[int]) -> None:
    if sum(given_) <= SNIPPET_BUDGET_CHARACTERS:
        assert shares(given_) == given_
    else:
        assert sum(shares(given_)) == SNIPPET_BUDGET_CHARACTERS


@given(lengths)
def test_every_text_keeps_its_first_thousand_while_the_budget_allows(given_: list[int]) -> None:
    if sum(min(length, 1000) for length in given_) <= SNIPPET_BUDGET_CHARACTERS:
        assert all(share >= min(length, 1000) for share, length in zip(shares(given_), given_, strict=True))


@given(lengths)
def test_what_is_left_goes_out_in_answer_order(given_: list[int]) -> None:
    granted = shares(given_)
    beyond = [(share, length) for share, length in zip(granted, given_, strict=True) if length > 1000]
    cut = [index for index, (share, length) in enumerate(beyond) if share < length]
    for share, _ in beyond[cut[0] + 1 :] if cut else ():
        assert share <= 1000


def test_fifty_long_texts_get_equal_parts_and_none_is_left_empty() -> None:
    assert shares([8000] * 50) == [960] * 50


def test_short_texts_leave_room_for_the_first_thousand_of_the_others() -> None:
    granted = shares([8000, *[10] * 48, 8000])
    assert granted[0] == 8000
    assert granted[-1] == 8000


def test_no_texts_need_no_budget() -> None:
    assert shares([]) == []
    assert within_budget([]) == ()


def test_a_cut_snippet_is_marked_and_ends_between_code_points() -> None:
    source = a_source()
    found = [Found(source, a_passage(snippet="🛳" * 8000)) for _ in range(7)]
    kept = within_budget(found)
    assert [len(f.passage.snippet) for f in kept] == [8000] * 5 + [7000, 1000]
    assert [f.passage.truncated for f in kept] == [False] * 5 + [True, True]
    assert all(set(f.passage.snippet) == {"🛳"} for f in kept)


@given(st.lists(st.text(max_size=3000), min_size=1, max_size=40))
def test_a_kept_snippet_is_the_beginning_of_what_the_provider_sent(snippets: list[str]) -> None:
    source = a_source()
    kept = within_budget([Found(source, a_passage(snippet=snippet)) for snippet in snippets])
    assert sum(len(f.passage.snippet) for f in kept) <= SNIPPET_BUDGET_CHARACTERS
    for snippet, f in zip(snippets, kept, strict=True):
        assert snippet.startswith(f.passage.snippet)
        assert f.passage.truncated == (f.passage.snippet != snippet)
