"""What callers see of circuits: agents the outcomes, customers results alone. Through the real routes, over fakes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.circuits import Circuit, Lane, revision_of
from shared.domain.registrations import Provider
from shared.errors import ConnectionFailed, Refused
from tests.support.builders import NOW, a_passage
from tests.support.search_stage import Answered, Stage, raising

AGENT, CUSTOMER = Lane.AGENT, Lane.CUSTOMER


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


def set_circuit(stage: Stage, lane: Lane, provider: Provider, **over: Any) -> None:
    stage.circuits[lane].circuits[provider.id] = Circuit(revision=revision_of(provider.source), **over)
    stage.circuits[lane].version += 1


def outcomes(answer: Answered) -> dict[str, tuple[str, str | None, str | None]]:
    return {one["id"]: (one["status"], one["errorCode"], one["retryAt"]) for one in answer.json["providers"]}


def titles(answer: Answered) -> list[str]:
    assert answer.status == 200
    return [result["title"] for result in answer.json["results"]]


def test_a_source_behind_an_open_circuit_is_skipped_with_the_time_to_come_back(stage: Stage) -> None:
    down, sound = stage.add(), stage.add(a_passage(title="Sound"))
    set_circuit(stage, AGENT, down, failures=3, openings=1, open_until=NOW + 30)
    answer = stage.agent()
    assert titles(answer) == ["Sound"]
    assert answer.json["status"] == "partial"
    assert outcomes(answer)[down.id] == ("skipped", "circuit_open", "2026-09-21T14:13:50.000Z")
    assert outcomes(answer)[sound.id] == ("success", None, None)
    assert "Retry-After" not in answer.headers
    assert stage.retriever.asked_ids == [sound.id]


def test_when_every_source_says_when_to_come_back_the_answer_does_too(stage: Stage) -> None:
    for wait_s in (90, 30):
        set_circuit(stage, AGENT, stage.add(), failures=3, openings=1, open_until=NOW + wait_s)
    answer = stage.agent()
    assert (answer.status, answer.json["status"], answer.headers["Retry-After"]) == (200, "failed", "30")


def test_a_source_that_was_taken_out_of_use_is_told_also_when_nobody_named_it(stage: Stage) -> None:
    lost, sound = stage.add(act=raising(Refused("unauthorized"))), stage.add(a_passage(title="Sound"))
    for _ in range(3):
        assert outcomes(stage.agent())[lost.id] == ("failed", "unauthorized", None)
    for named in ({}, {"providers": [lost.id, sound.id]}):
        answer = stage.agent(**named)
        assert outcomes(answer)[lost.id] == ("skipped", "disabled", None)
        assert titles(answer) == ["Sound"]


def test_a_service_that_asks_to_be_left_alone_is_left_alone_by_the_next_search(stage: Stage) -> None:
    held = stage.add(act=raising(Refused("rate_limited", retry_at=NOW + 40)))
    assert outcomes(stage.agent())[held.id][:2] == ("failed", "rate_limited")
    answer = stage.agent()
    assert outcomes(answer)[held.id][:2] == ("skipped", "circuit_open")
    assert answer.headers["Retry-After"] == "40"
    assert stage.retriever.asked_ids == [held.id]


def test_what_happens_to_customers_says_nothing_to_agents_and_the_other_way_round(stage: Stage) -> None:
    provider = stage.add(act=raising(ConnectionFailed()))
    for _ in range(3):
        stage.assistant()
    assert stage.circuits[CUSTOMER].circuits[provider.id].open_until == NOW + 30
    assert outcomes(stage.agent())[provider.id][0] == "failed"
    assert stage.circuits[AGENT].circuits[provider.id].failures == 1


@pytest.mark.parametrize("who", ["assistant", "widget"])
def test_customers_see_results_alone_and_share_a_lane(stage: Stage, who: str) -> None:
    down, sound = stage.add(act=raising(ConnectionFailed())), stage.add(a_passage(title="Sound"))
    for ask in (stage.assistant, stage.widget, stage.assistant):
        ask()
    stage.retriever.asked.clear()
    answer = getattr(stage, who)()
    assert titles(answer) == ["Sound"]
    assert set(answer.json) == {"results"}
    assert "Retry-After" not in answer.headers
    assert stage.retriever.asked_ids == [sound.id]
    assert down.id not in answer.text


def test_customers_take_nothing_out_of_use_whatever_they_meet(stage: Stage) -> None:
    provider = stage.add(act=raising(Refused("unauthorized")))
    for _ in range(4):
        stage.widget()
    assert stage.circuits[CUSTOMER].circuits[provider.id].disabled_at == 0
    assert outcomes(stage.agent())[provider.id] == ("failed", "unauthorized", None)


def test_what_agents_find_to_be_broken_customers_are_spared(stage: Stage) -> None:
    provider = stage.add(act=raising(Refused("unauthorized")))
    for _ in range(3):
        stage.agent()
    stage.retriever.asked.clear()
    assert titles(stage.widget()) == []
    assert stage.retriever.asked_ids == []
    assert stage.circuits[CUSTOMER].circuits[provider.id].disabled_at == NOW


def test_the_healthy_state_costs_one_read_a_search_and_no_write(stage: Stage) -> None:
    stage.add(a_passage())
    for ask in (stage.agent, stage.assistant, stage.widget, stage.dify):
        ask()
    reads = {lane: circuits.reads for lane, circuits in stage.circuits.items()}
    assert reads == {AGENT: 1, CUSTOMER: 3}
    assert [circuits.writes for circuits in stage.circuits.values()] == [0, 0]
    assert not any(journal.entries for journal in stage.journals.values())


def test_a_recalled_reply_is_told_as_before_and_says_nothing_about_the_source() -> None:
    stage = Stage(cache_s=60)
    provider = stage.add(a_passage(title="Kept"))
    stage.agent()
    set_circuit(stage, AGENT, provider, failures=2)
    answer = stage.agent()
    assert titles(answer) == ["Kept"]
    assert outcomes(answer)[provider.id] == ("success", None, None)
    assert stage.circuits[AGENT].circuits[provider.id].failures == 2
    assert stage.circuits[AGENT].writes == 0
    stage.close()


def test_a_reply_that_was_not_had_is_never_kept() -> None:
    stage = Stage(cache_s=60)
    provider = stage.add(a_passage(title="Back"))
    set_circuit(stage, AGENT, provider, failures=3, openings=1, open_until=NOW + 30)
    assert titles(stage.agent()) == []
    stage.clock.advance(31)
    assert titles(stage.agent()) == ["Back"]
    stage.close()


def test_nobody_who_is_not_admitted_changes_a_circuit(stage: Stage) -> None:
    set_circuit(stage, AGENT, stage.add(), failures=3, openings=1, open_until=NOW - 1)
    assert stage.agent(token="kg_agt_" + "a" * 16 + "_" + "00" * 32).status == 401
    assert stage.circuits[AGENT].writes == 0
