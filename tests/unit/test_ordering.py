from __future__ import annotations

import itertools
import math
import random

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.ordering import Found, ordered
from shared.domain.passages import Passage, Retrieval
from shared.domain.registrations import Capabilities, Source
from shared.domain.replies import Reply, reply_with
from tests.support.builders import a_passage, a_source

SCORING = Capabilities(scoring=True)
scores = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 0.5, 1.0])


def a_reply(*given_scores: float | None, **source: object) -> Reply:
    passages = tuple(a_passage(score=score) for score in given_scores)
    return reply_with(a_source(**source), Retrieval(passages=passages))


@st.composite
def many_replies(draw: st.DrawFn) -> list[Reply]:
    count = draw(st.integers(0, 6))
    return [
        a_reply(
            *draw(st.lists(scores, max_size=5)),
            priority=draw(st.sampled_from([0, 100, 100, 1000])),
            capabilities=draw(st.sampled_from([SCORING, Capabilities()])),
            created_at=draw(st.sampled_from([1.0, 2.0, 3.0])),
        )
        for _ in range(count)
    ]


def ids(found: list[Found]) -> list[str]:
    return [f.passage.document_id for f in found]


def documents(reply: Reply) -> list[str]:
    return [p.document_id for p in reply.passages]


def test_a_lower_priority_number_comes_first_whatever_the_scores() -> None:
    late = a_reply(0.99, priority=200, capabilities=SCORING, created_at=1.0)
    early = a_reply(0.01, priority=10, capabilities=SCORING, created_at=2.0)
    assert ids(ordered([late, early])) == documents(early) + documents(late)


def test_scored_results_are_merged_by_score_and_unscored_ones_come_after_them() -> None:
    one = a_reply(0.2, None, 0.9, capabilities=SCORING, created_at=1.0)
    two = a_reply(0.5, capabilities=SCORING, created_at=2.0)
    low, none, high = documents(one)
    assert ids(ordered([one, two])) == [high, *documents(two), low, none]


def test_providers_without_scoring_take_turns_behind_the_scored_ones() -> None:
    scored = a_reply(0.1, capabilities=SCORING, created_at=3.0)
    one, two = a_reply(None, None, None, created_at=1.0), a_reply(None, created_at=2.0)
    first, second, third = documents(one)
    assert ids(ordered([two, one, scored])) == [*documents(scored), first, *documents(two), second, third]


def test_a_score_counts_for_nothing_without_the_capability() -> None:
    one, two = a_reply(0.1, 0.2, created_at=1.0), a_reply(9.0, created_at=2.0)
    assert ids(ordered([two, one])) == [documents(one)[0], *documents(two), documents(one)[1]]


def test_equal_scores_go_by_registration_and_then_by_the_providers_own_rank() -> None:
    newer = a_reply(0.5, 0.5, capabilities=SCORING, created_at=2.0)
    older = a_reply(0.5, 0.5, capabilities=SCORING, created_at=1.0)
    assert ids(ordered([newer, older])) == documents(older) + documents(newer)


def test_a_score_that_is_not_finite_counts_as_none() -> None:
    odd = a_reply(math.nan, math.inf, 0.1, capabilities=SCORING)
    nan, infinite, finite = documents(odd)
    assert ids(ordered([odd])) == [finite, nan, infinite]


@given(many_replies(), st.randoms(use_true_random=False))
def test_who_answered_first_changes_nothing(replies: list[Reply], chance: random.Random) -> None:
    shuffled = list(replies)
    chance.shuffle(shuffled)
    assert ids(ordered(shuffled)) == ids(ordered(replies))


@given(many_replies())
def test_nothing_is_lost_or_repeated(replies: list[Reply]) -> None:
    every = [document for reply in replies for document in documents(reply)]
    assert sorted(ids(ordered(replies))) == sorted(every)


@given(many_replies())
def test_priorities_never_go_down_and_the_order_within_a_band_holds(replies: list[Reply]) -> None:
    found = ordered(replies)
    for before, after in itertools.pairwise(found):
        assert before.source.priority <= after.source.priority
        if before.source.priority == after.source.priority:
            assert _place(before) <= _place(after)


@given(many_replies())
def test_a_provider_without_scoring_keeps_its_own_order(replies: list[Reply]) -> None:
    found = ordered(replies)
    for reply in replies:
        if not reply.source.capabilities.scoring:
            assert [f.passage.document_id for f in found if f.source is reply.source] == documents(reply)


def _place(found: Found) -> tuple[int, int, float]:
    source: Source = found.source
    passage: Passage = found.passage
    if not source.capabilities.scoring:
        return (1, 0, 0.0)
    return (0, 1, 0.0) if passage.score is None else (0, 0, -passage.score)
