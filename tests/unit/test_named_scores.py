"""Scores of several kinds for one passage: agents see them in their order, customers see none."""

from __future__ import annotations

import json
from typing import Any

from shared.domain.agent_answers import agent_answer
from shared.domain.customer_answers import customer_answer
from shared.domain.merging import merged
from shared.domain.passages import NamedScore, Passage, Retrieval
from shared.domain.replies import reply_with
from shared.web import agent_answers, customer_answers
from tests.support.builders import a_passage, a_source

SCORES = (
    NamedScore(kind="rrf", value=0.0163),
    NamedScore(kind="fullText", value=7.25),
    NamedScore(kind="embedding", value=None),
)


def agent_result(passage: Passage) -> dict[str, Any]:
    reply = reply_with(a_source(), Retrieval(passages=(passage,)), duration_ms=1)
    answer = agent_answer([reply], [], limit=10, locale=None)
    (result,) = json.loads(agent_answers.encoded(answer, request_id="r-1"))["results"]
    return dict(result)


def test_an_agent_sees_every_score_under_its_name_and_in_its_order() -> None:
    result = agent_result(a_passage(scores=SCORES))
    assert result["providerScores"] == [
        {"type": "rrf", "value": 0.0163},
        {"type": "fullText", "value": 7.25},
        {"type": "embedding", "value": None},
    ]


def test_without_named_scores_the_field_is_left_out() -> None:
    result = agent_result(a_passage(score=0.5))
    assert "providerScores" not in result
    assert result["providerScore"] == 0.5


def test_a_customer_sees_no_score() -> None:
    reply = reply_with(a_source(), Retrieval(passages=(a_passage(scores=SCORES),)), duration_ms=1)
    answer = customer_answer(merged([reply], limit=10), locale=None)
    text = customer_answers.encoded(answer)
    assert "rrf" not in text
    assert "cores" not in text
    assert set(json.loads(text)["results"][0]) == {"title", "snippet", "url", "locale", "localeFallback"}
