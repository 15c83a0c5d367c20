"""Citations without text: beside the results of an agent's answer, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.exposure import Audience, ExposureProfile
from shared.domain.passages import Discovery, FreshnessWish, Question, Retrieval
from shared.domain.registrations import ProviderKind
from tests.support.builders import a_passage, a_provider
from tests.support.search_stage import Act, Answered, Stage

INTERNAL = ExposureProfile.AGENT_ONLY


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


def citing(*names: str, **retrieval: Any) -> Act:
    async def act(_question: Question) -> Retrieval:
        found = tuple(Discovery(url=f"https://docs.example.com/{name}", title=name) for name in names)
        return Retrieval(discoveries=found, **retrieval)

    return act


def titles(answer: Answered) -> list[str]:
    return [one["title"] for one in answer.json["discoveries"]]


def test_a_discovery_names_its_provider_and_what_was_selected_to_find_it(stage: Stage) -> None:
    async def act(_question: Question) -> Retrieval:
        found = Discovery(url="https://docs.example.com/quay", library="/harbour/quay", library_version="v2.1.0")
        return Retrieval(discoveries=(found,))

    provider = stage.add(act=act, exposure_profile=INTERNAL)
    assert stage.agent().json["discoveries"] == [
        {
            "provider": {"id": provider.id, "name": provider.source.name, "kind": "contract"},
            "url": "https://docs.example.com/quay",
            "title": None,
            "library": "/harbour/quay",
            "libraryVersion": "v2.1.0",
        }
    ]


def test_discoveries_alone_are_a_success_without_results(stage: Stage) -> None:
    stage.add(act=citing("one"), exposure_profile=INTERNAL)
    answer = stage.agent().json
    (outcome,) = answer["providers"]
    assert (outcome["status"], outcome["resultCount"], answer["status"]) == ("success", 0, "complete")
    assert answer["results"] == []


def test_they_come_by_priority_and_then_in_turn(stage: Stage) -> None:
    stage.add(act=citing("late"), exposure_profile=INTERNAL, priority=200, created_at=1.0)
    stage.add(act=citing("a1", "a2"), exposure_profile=INTERNAL, priority=100, created_at=2.0)
    stage.add(act=citing("b1", "b2"), exposure_profile=INTERNAL, priority=100, created_at=3.0)
    assert titles(stage.agent()) == ["a1", "b1", "a2", "b2", "late"]


def test_an_answer_has_at_most_fifty(stage: Stage) -> None:
    stage.add(act=citing(*(f"n{n}" for n in range(60))), exposure_profile=INTERNAL)
    assert titles(stage.agent()) == [f"n{n}" for n in range(50)]


def test_the_limit_of_results_does_not_count_them(stage: Stage) -> None:
    passage = a_passage(audience=Audience.INTERNAL)
    stage.add(act=citing("one", "two", passages=(passage,)), exposure_profile=INTERNAL)
    answer = stage.agent(limit=1)
    assert (len(answer.json["results"]), titles(answer)) == (1, ["one", "two"])


@pytest.mark.parametrize("lane", ["agent", "assistant", "widget"])
def test_a_customer_safe_provider_discovers_nothing_on_any_path(stage: Stage, lane: str) -> None:
    stage.add(act=citing("leak"))
    answer = getattr(stage, lane)()
    assert answer.status == 200
    assert "leak" not in answer.text


def test_a_provider_that_only_fetches_is_not_asked_and_says_so_when_it_is_named(stage: Stage) -> None:
    fetching = a_provider(exposure_profile=INTERNAL, kind=ProviderKind.FIRECRAWL)
    stage.store.registrations[fetching.id] = fetching
    assert stage.agent().json["providers"] == []
    (outcome,) = stage.agent(providers=[fetching.id]).json["providers"]
    assert (outcome["status"], outcome["errorCode"]) == ("skipped", "capability_unavailable")


def test_what_narrows_a_search_reaches_every_provider_of_it(stage: Stage) -> None:
    stage.add(exposure_profile=INTERNAL)
    stage.agent(product="Quay", repository="harbour/quay", version="2.1", freshness="fresh")
    ((_, question, _),) = stage.retriever.asked
    assert (question.product, question.repository, question.version) == ("Quay", "harbour/quay", "2.1")
    assert question.freshness is FreshnessWish.FRESH
