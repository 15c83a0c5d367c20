"""An acquisition behind its provider's circuit, which it shares with the agents' searches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.acquisitions import Acquired, Wanted
from shared.domain.circuits import WELL, Circuit, CircuitState, revision_of
from shared.domain.outcomes import OutcomeCode
from shared.domain.registrations import Provider, ProviderKind
from shared.errors import ConnectionFailed, ExchangeTimeout, Refused, ResponseTooLarge, Unavailable
from shared.ports.meter import Meter
from shared.services.acquire import OF_THE_SOURCE
from tests.support.builders import NOW
from tests.support.live_stage import LiveStage
from tests.support.lookup_stage import problem_of


@pytest.fixture
def stage() -> Iterator[LiveStage]:
    made = LiveStage()
    yield made
    made.close()


def gives(stage: LiveStage, provider: Provider) -> Provider:
    async def fetch(wanted: Wanted, _meter: Meter) -> Acquired:
        return Acquired(url=wanted.url, final_url=wanted.url, title="Ferry passes", text="# Passes")

    stage.service.fetches[provider.id] = fetch
    return provider


def fails(stage: LiveStage, provider: Provider, error: BaseException, *, after_s: float = 0) -> Provider:
    async def fetch(_wanted: Wanted, _meter: Meter) -> Acquired:
        stage.clock.advance(after_s)
        raise error

    stage.service.fetches[provider.id] = fetch
    return provider


def set_circuit(stage: LiveStage, provider: Provider, **over: Any) -> Provider:
    stage.circuits.circuits[provider.id] = Circuit(revision=revision_of(provider.source), **over)
    stage.circuits.version += 1
    return provider


def circuit(stage: LiveStage, provider: Provider) -> Circuit:
    return stage.circuits.circuits.get(provider.id, WELL)


def test_a_service_that_is_well_costs_one_read_and_no_write(stage: LiveStage) -> None:
    gives(stage, stage.add())
    assert stage.acquire().status == 200
    assert (stage.circuits.reads, stage.circuits.writes, stage.journal.entries) == (1, 0, [])


def test_a_service_behind_an_open_circuit_is_not_asked_and_nothing_is_reserved(stage: LiveStage) -> None:
    provider = set_circuit(stage, gives(stage, stage.add()), failures=3, openings=1, open_until=NOW + 30)
    answer = stage.acquire()
    assert problem_of(answer) == (503, "circuit_open")
    assert (answer.headers["Retry-After"], answer.json["provider"]) == ("30", provider.id)
    assert stage.service.asked == []
    assert [line["outcome"] for line in stage.log.of("acquire.answered")] == ["circuit_open"]


def test_no_other_service_is_asked_in_the_place_of_one_that_is_left_alone(stage: LiveStage) -> None:
    first = gives(stage, stage.add(priority=1))
    gives(stage, stage.add(ProviderKind.EXA, priority=2))
    set_circuit(stage, first, failures=3, openings=1, open_until=NOW + 30)
    assert problem_of(stage.acquire()) == (503, "circuit_open")
    assert stage.service.asked == []


def test_a_service_that_was_taken_out_of_use_is_disabled(stage: LiveStage) -> None:
    set_circuit(stage, gives(stage, stage.add()), disabled_at=NOW - 9)
    answer = stage.acquire()
    assert problem_of(answer) == (503, "disabled")
    assert "Retry-After" not in answer.headers
    assert stage.service.asked == []


def test_three_failures_open_the_circuit(stage: LiveStage) -> None:
    provider = fails(stage, stage.add(), ConnectionFailed())
    for _ in range(3):
        assert stage.acquire().status == 502
    assert problem_of(stage.acquire()) == (503, "circuit_open")
    assert circuit(stage, provider).open_until == NOW + 30


def test_three_refused_credentials_take_the_service_out_of_use(stage: LiveStage) -> None:
    fails(stage, stage.add(), Refused("unauthorized"))
    for _ in range(3):
        assert stage.acquire().status == 502
    assert problem_of(stage.acquire()) == (503, "disabled")


def test_a_service_that_says_when_to_come_back_is_believed(stage: LiveStage) -> None:
    fails(stage, stage.add(), Refused("rate_limited", retry_at=NOW + 70))
    assert problem_of(stage.acquire()) == (503, "provider_rate_limited")
    answer = stage.acquire()
    assert (problem_of(answer), answer.headers["Retry-After"]) == ((503, "circuit_open"), "70")


@pytest.mark.parametrize("code", sorted(OF_THE_SOURCE))
def test_what_a_service_says_of_a_source_says_that_it_is_well(stage: LiveStage, code: str) -> None:
    error = ResponseTooLarge() if code == OutcomeCode.RESPONSE_TOO_LARGE else Refused(code)
    provider = set_circuit(stage, fails(stage, stage.add(), error), failures=2)
    assert stage.acquire().status == 502
    assert circuit(stage, provider) is WELL


@pytest.mark.parametrize("code", ["keys_exhausted", "allowance_exhausted", "not_configured"])
def test_what_is_a_matter_of_the_pool_counts_for_nothing(stage: LiveStage, code: str) -> None:
    fails(stage, stage.add(), Refused(code, retry_at=NOW + 50))
    for _ in range(4):
        assert problem_of(stage.acquire()) == (503, code)
    assert stage.circuits.writes == 0


@pytest.mark.parametrize(("after_s", "counts"), [(1.0, 0), (20.0, 1)])
def test_a_service_that_had_its_time_and_did_not_answer_has_failed(
    stage: LiveStage, after_s: float, counts: int
) -> None:
    provider = fails(stage, stage.add(), ExchangeTimeout(), after_s=after_s)
    assert stage.acquire().status == 504
    assert circuit(stage, provider).failures == counts


def test_when_the_wait_is_over_one_acquisition_is_the_trial(stage: LiveStage) -> None:
    provider = set_circuit(stage, gives(stage, stage.add()), failures=3, openings=1, open_until=NOW - 1)
    assert stage.acquire().status == 200
    assert circuit(stage, provider) is WELL
    assert stage.circuits.writes == 2


def test_a_trial_that_another_holds_is_left_to_it(stage: LiveStage) -> None:
    trial = {"trial_id": "other", "trial_until": NOW + 20}
    set_circuit(stage, gives(stage, stage.add()), failures=3, openings=1, open_until=NOW - 1, **trial)
    answer = stage.acquire()
    assert (problem_of(answer), answer.headers["Retry-After"]) == ((503, "circuit_open"), "20")
    assert stage.service.asked == []


def test_a_trial_that_fails_opens_for_longer_and_a_fault_of_ours_gives_it_back(stage: LiveStage) -> None:
    provider = set_circuit(stage, stage.add(), failures=3, openings=1, open_until=NOW - 1)
    fails(stage, provider, KeyError("x"))
    assert problem_of(stage.acquire()) == (500, "internal_error")
    assert (circuit(stage, provider).trial_id, circuit(stage, provider).state_at(NOW)) == ("", CircuitState.HALF_OPEN)
    fails(stage, provider, ConnectionFailed())
    assert stage.acquire().status == 502
    assert circuit(stage, provider).open_until == NOW + 60


def test_circuits_that_cannot_be_read_or_written_hold_nobody_back(stage: LiveStage) -> None:
    provider = gives(stage, stage.add())
    set_circuit(stage, provider, failures=3, openings=1, open_until=NOW + 30)
    stage.circuits.failure = Unavailable()
    assert stage.acquire().status == 200
    fails(stage, provider, ConnectionFailed())
    assert stage.acquire().status == 502
