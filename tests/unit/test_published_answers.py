"""What searches answer, refusals included, is what the published document describes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shared.domain.exposure import ExposureProfile
from shared.errors import ExchangeTimeout, Unavailable
from tests.support.builders import a_passage
from tests.support.published import faults_of
from tests.support.search_stage import Answered, Stage, passages, raising

SEARCH = "/api/v1/knowledge/search"
WIDGET = "/api/v1/knowledge/widget/search"


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage()
    stage.add(*passages(3))
    stage.add(a_passage(url=None, locale=None, score=0.5), exposure_profile=ExposureProfile.AGENT_ONLY)
    stage.add(act=raising(ExchangeTimeout()), exposure_profile=ExposureProfile.AGENT_ONLY)
    yield stage
    stage.close()


def judge(answered: Answered, *, path: str = SEARCH, method: str = "POST") -> int:
    assert faults_of(method, path, answered.status, answered.headers, answered.text) == []
    return answered.status


def test_answers_to_agents_are_described(stage: Stage) -> None:
    assert judge(stage.agent()) == 200
    assert judge(stage.agent(locale="de", limit=1, providers=["cs_aaaaaaaaaaaaaaaa"])) == 200
    assert judge(stage.agent(collections=["terms"])) == 200


def test_answers_to_assistants_are_described(stage: Stage) -> None:
    assert judge(stage.assistant()) == 200
    assert judge(stage.assistant(collections=["terms"])) == 200


def test_answers_to_widgets_are_described(stage: Stage) -> None:
    assert judge(stage.widget(), path=WIDGET) == 200
    assert judge(stage.preflight(), path=WIDGET, method="OPTIONS") == 204
    assert judge(stage.preflight(origin="https://evil.test"), path=WIDGET, method="OPTIONS") == 204


def test_refusals_of_searches_are_described(stage: Stage) -> None:
    assert judge(stage.agent(token=None)) == 401
    assert judge(stage.agent(query="")) == 422
    assert judge(stage.agent(audience="agent")) == 422
    assert judge(stage.assistant(providers=[])) == 422
    assert judge(stage.widget(origin="https://evil.test"), path=WIDGET) == 403
    assert judge(stage.widget(query="x" * 301), path=WIDGET) == 422


def test_too_many_searches_are_described(stage: Stage) -> None:
    statuses = {judge(stage.widget(), path=WIDGET) for _ in range(31)}

    assert statuses == {200, 429}


def test_a_store_that_is_down_is_described(stage: Stage) -> None:
    stage.credentials.failure = Unavailable(retry_after_s=5)

    assert judge(stage.agent()) == 503
    assert judge(stage.widget(), path=WIDGET) == 503
