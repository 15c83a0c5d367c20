from __future__ import annotations

import pytest

from shared.domain.exposure import Audience, ExposureProfile
from shared.domain.outcomes import OutcomeCode, OutcomeStatus
from shared.domain.passages import Retrieval, Warning_
from shared.domain.replies import reply_with, reply_without, sifted
from tests.support.builders import a_passage, a_source

PUBLIC, INTERNAL = a_passage(audience=Audience.PUBLIC), a_passage(audience=Audience.INTERNAL)
CUSTOMER_SAFE, AGENT_ONLY = ExposureProfile.CUSTOMER_SAFE, ExposureProfile.AGENT_ONLY


def test_an_internal_passage_of_a_customer_safe_source_is_dropped_with_a_warning() -> None:
    reply = sifted(reply_with(a_source(), Retrieval(passages=(PUBLIC, INTERNAL))), CUSTOMER_SAFE)
    assert reply.passages == (PUBLIC,)
    assert reply.outcome.warnings == (Warning_.INTERNAL_DROPPED,)
    assert (reply.outcome.status, reply.outcome.result_count) == (OutcomeStatus.SUCCESS, 1)


def test_a_source_whose_passages_are_all_dropped_was_empty() -> None:
    reply = sifted(reply_with(a_source(), Retrieval(passages=(INTERNAL, INTERNAL))), CUSTOMER_SAFE)
    assert reply.passages == ()
    assert (reply.outcome.status, reply.outcome.result_count) == (OutcomeStatus.EMPTY, 0)


def test_an_internal_source_keeps_passages_of_either_label() -> None:
    reply = reply_with(a_source(), Retrieval(passages=(PUBLIC, INTERNAL)))
    assert sifted(reply, AGENT_ONLY) is reply


@pytest.mark.parametrize("label", ["public", "PUBLIC", None, True, 1, object()])
def test_a_label_that_is_not_the_audience_itself_is_dropped(label: object) -> None:
    reply = sifted(reply_with(a_source(), Retrieval(passages=(a_passage(audience=label),))), CUSTOMER_SAFE)
    assert reply.passages == ()


def test_sifting_twice_is_sifting_once() -> None:
    once = sifted(reply_with(a_source(), Retrieval(passages=(PUBLIC, INTERNAL))), CUSTOMER_SAFE)
    assert sifted(once, CUSTOMER_SAFE) is once


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (OutcomeCode.TIMEOUT, OutcomeStatus.FAILED),
        (OutcomeCode.UNAUTHORIZED, OutcomeStatus.FAILED),
        (OutcomeCode.QUERY_TOO_LONG, OutcomeStatus.SKIPPED),
        (OutcomeCode.NOT_CONFIGURED, OutcomeStatus.SKIPPED),
        (OutcomeCode.CIRCUIT_OPEN, OutcomeStatus.SKIPPED),
    ],
)
def test_a_source_that_was_not_asked_is_skipped_and_one_that_was_has_failed(
    code: OutcomeCode, status: OutcomeStatus
) -> None:
    assert reply_without(a_source(), code).outcome.status is status


def test_a_cut_on_the_way_in_marks_the_outcome() -> None:
    source = a_source()
    assert reply_with(source, Retrieval(passages=(a_passage(truncated=True),))).outcome.truncated
    assert reply_with(source, Retrieval(passages=(PUBLIC,), warnings=(Warning_.SURPLUS_CUT,))).outcome.truncated
    assert not reply_with(source, Retrieval(passages=(PUBLIC,))).outcome.truncated
