"""What the probe does with circuits: half-open for those that are well, alike on both lanes, and nothing else."""

from __future__ import annotations

import asyncio

import pytest

from shared.domain.circuits import Circuit, CircuitState, Effect, Incident, Lane, revision_of
from shared.domain.health import HealthState
from shared.domain.journal import Happening
from shared.domain.outcomes import OutcomeCode
from shared.domain.registrations import Provider
from shared.errors import Unavailable
from shared.observability import CIRCUITS_UNKNOWN, CIRCUITS_UNWRITTEN
from shared.services.circuit_keeper import CircuitKeeper
from tests.support.builders import a_provider, an_internal_provider
from tests.support.probe_stage import ProbeStage, a_circuit

AGENT, CUSTOMER = Lane.AGENT, Lane.CUSTOMER


def opened(stage: ProbeStage, provider: Provider, lane: Lane, **over: object) -> None:
    """Open for ten minutes from the next run on."""
    until = stage.clock.now() + 900
    stage.circuits[lane].circuits[provider.id] = a_circuit(provider, open_until=until, openings=3, **over)
    stage.circuits[lane].version += 1


def state(stage: ProbeStage, provider: Provider, lane: Lane) -> CircuitState:
    return stage.circuits[lane].circuits.get(provider.id, Circuit()).state_at(stage.clock.now())


def test_one_that_is_found_well_may_be_tried_on_both_lanes_by_one_write_each() -> None:
    providers = [a_provider() for _ in range(4)]
    stage = ProbeStage(providers)
    for lane in Lane:
        for provider in providers:
            opened(stage, provider, lane)
    stage.run()

    for lane in Lane:
        assert {state(stage, each, lane) for each in providers} == {CircuitState.HALF_OPEN}
        assert stage.circuits[lane].writes == 1
    told = [(each.happening, each.lane) for each in stage.journal.entries]
    assert (
        sorted(told) == [(Happening.CIRCUIT_HALF_OPENED, AGENT)] * 4 + [(Happening.CIRCUIT_HALF_OPENED, CUSTOMER)] * 4
    )


@pytest.mark.parametrize("code", [OutcomeCode.TIMEOUT, OutcomeCode.UNAUTHORIZED, OutcomeCode.RATE_LIMITED])
def test_the_circuit_of_one_that_is_not_well_stays_as_it_is(code: OutcomeCode) -> None:
    provider = a_provider()
    stage = ProbeStage([provider])
    opened(stage, provider, AGENT)
    stage.finds(provider, code)
    stage.run()

    assert state(stage, provider, AGENT) is CircuitState.OPEN
    assert stage.circuits[AGENT].writes == 0


def test_looks_that_fail_open_no_circuit() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])
    stage.states(provider, [OutcomeCode.TIMEOUT] * 10)

    assert [store.circuits for store in stage.circuits.values()] == [{}, {}]


@pytest.mark.parametrize("lane", Lane)
def test_one_that_asked_to_be_left_alone_is_not_asked_before_its_time(lane: Lane) -> None:
    provider = a_provider()
    stage = ProbeStage([provider])
    opened(stage, provider, lane, is_held=True, last_code=OutcomeCode.RATE_LIMITED)
    until = stage.circuits[lane].circuits[provider.id].open_until

    assert stage.run().states == {HealthState.LIMITED: 1}
    health = stage.health(provider)
    assert (health.code, health.retry_at) == (OutcomeCode.RATE_LIMITED, until)
    assert stage.run().states == {HealthState.LIMITED: 1}
    assert stage.check.asked == []
    assert (stage.book.writes, stage.circuits[lane].writes) == (1, 0)
    assert stage.run().states == {HealthState.HEALTHY: 1}


def test_the_later_of_two_waits_counts() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])
    for lane, wait_s in ((AGENT, 900.0), (CUSTOMER, 1_500.0)):
        circuit = a_circuit(provider, open_until=stage.clock.now() + wait_s, is_held=True)
        stage.circuits[lane].circuits[provider.id] = circuit
    stage.run()

    assert stage.health(provider).retry_at == stage.clock.now() - 300 + 1_500


def test_what_another_registration_was_told_holds_nobody_back_and_is_forgotten() -> None:
    provider = a_provider(generation=2)
    stage = ProbeStage([provider])
    opened(stage, provider, AGENT, is_held=True)
    stage.circuits[AGENT].circuits[provider.id] = a_circuit(provider, revision="1", open_until=stage.clock.now() + 900)
    stage.run()

    assert stage.check.asked == [provider.id]
    assert stage.circuits[AGENT].circuits == {}


def test_what_agents_lost_is_lost_for_customers_too_when_that_was_not_written() -> None:
    safe, internal = a_provider(), an_internal_provider()
    stage = ProbeStage([safe, internal])
    for each in (safe, internal):
        lost = a_circuit(each, disabled_at=stage.clock.now() - 60, last_code=OutcomeCode.UNAUTHORIZED)
        stage.circuits[AGENT].circuits[each.id] = lost
    stage.circuits[AGENT].version = 7
    stage.run()

    assert state(stage, safe, CUSTOMER) is CircuitState.AUTO_DISABLED
    copied = stage.circuits[CUSTOMER].circuits
    assert set(copied) == {safe.id}
    assert copied[safe.id].disabled_at == stage.circuits[AGENT].circuits[safe.id].disabled_at
    assert {(each.provider_id, each.happening, each.lane, each.code) for each in stage.journal.entries} == {
        (safe.id, Happening.AUTO_DISABLED, CUSTOMER, OutcomeCode.UNAUTHORIZED),
        (safe.id, Happening.AUTO_DISABLED, AGENT, OutcomeCode.UNAUTHORIZED),
        (internal.id, Happening.AUTO_DISABLED, AGENT, OutcomeCode.UNAUTHORIZED),
    }
    stage.run()
    assert stage.circuits[CUSTOMER].writes == 1


def test_that_a_provider_was_taken_out_of_use_is_in_the_history_once_also_where_it_was_lost_at_the_time() -> None:
    provider, gone = a_provider(), a_provider()
    stage = ProbeStage([provider])
    lost_at = stage.clock.now() + 299
    for each in (provider, gone):
        lost = a_circuit(each, disabled_at=lost_at, last_code=OutcomeCode.FORBIDDEN)
        stage.circuits[AGENT].circuits[each.id] = stage.circuits[CUSTOMER].circuits[each.id] = lost
    stage.circuits[AGENT].version = 7
    stage.run()

    (entry,) = stage.journal.entries
    assert (entry.provider_id, entry.at, entry.happening) == (provider.id, lost_at, Happening.AUTO_DISABLED)
    assert (entry.state, entry.lane, entry.code, entry.until) == ("auto_disabled", AGENT, OutcomeCode.FORBIDDEN, None)
    stage.run()
    assert stage.journal.entries == [entry]


def test_what_was_taken_out_of_use_long_ago_is_told_no_more() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])
    stage.circuits[AGENT].circuits[provider.id] = a_circuit(provider, disabled_at=stage.clock.now() - 3_400)
    stage.circuits[AGENT].version = 7
    stage.circuits[CUSTOMER].circuits[provider.id] = a_circuit(provider, disabled_at=stage.clock.now() - 3_400)
    stage.run()

    assert stage.journal.entries == []


def test_what_an_operator_put_back_is_back_for_customers_too_when_that_was_not_written() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])
    stage.circuits[CUSTOMER].circuits[provider.id] = a_circuit(provider, disabled_at=stage.clock.now())
    stage.circuits[AGENT].version = 7
    stage.run()

    assert stage.circuits[CUSTOMER].circuits == {}
    assert [(each.happening, each.lane) for each in stage.journal.entries] == [(Happening.PUT_BACK, CUSTOMER)]


@pytest.mark.parametrize("how", ["away", "never_written"])
def test_agents_circuits_that_cannot_be_read_put_nothing_back(how: str) -> None:
    provider = a_provider()
    stage = ProbeStage([provider])
    stage.circuits[CUSTOMER].circuits[provider.id] = a_circuit(provider, disabled_at=stage.clock.now())
    if how == "away":
        stage.circuits[AGENT].version = 7
        stage.circuits[AGENT].failure = Unavailable()
    stage.run()

    assert state(stage, provider, CUSTOMER) is CircuitState.AUTO_DISABLED


def test_the_probe_puts_nothing_back_that_is_found_well() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])
    for lane in Lane:
        stage.circuits[lane].circuits[provider.id] = a_circuit(provider, disabled_at=stage.clock.now())
        stage.circuits[lane].version = 7
    stage.run()

    assert {state(stage, provider, lane) for lane in Lane} == {CircuitState.AUTO_DISABLED}


@pytest.mark.parametrize("lane", Lane)
def test_a_lane_that_cannot_be_read_costs_the_run_nothing_else(lane: Lane) -> None:
    provider = a_provider()
    stage = ProbeStage([provider])
    stage.circuits[lane].failure = Unavailable()
    other = CUSTOMER if lane is AGENT else AGENT
    opened(stage, provider, other)

    assert stage.run().states == {HealthState.HEALTHY: 1}
    assert state(stage, provider, other) is CircuitState.HALF_OPEN
    assert stage.said(CIRCUITS_UNKNOWN) == [("warning", {"lane": lane})]


def test_a_lane_that_cannot_be_written_costs_the_run_nothing_else() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])
    for lane in Lane:
        opened(stage, provider, lane)

    async def away() -> None:
        raise Unavailable

    stage.circuits[CUSTOMER].pause = away

    assert stage.run().states == {HealthState.HEALTHY: 1}
    assert state(stage, provider, AGENT) is CircuitState.HALF_OPEN
    lost = ("warning", {"lane": CUSTOMER, "part": "circuits", "providers": [provider.id]})
    assert lost in stage.said(CIRCUITS_UNWRITTEN)


def test_what_a_search_wrote_meanwhile_is_not_touched() -> None:
    provider, other = a_provider(), a_provider()
    stage = ProbeStage([provider, other])
    opened(stage, provider, AGENT)
    opened(stage, other, AGENT)
    later = a_circuit(provider, open_until=stage.clock.now() + 1_200, openings=4)
    stage.circuits[AGENT].meanwhile.append(lambda _circuits: {provider.id: later})
    stage.run()

    assert stage.circuits[AGENT].circuits[provider.id] is later
    assert state(stage, other, AGENT) is CircuitState.HALF_OPEN


def test_the_next_search_is_the_trial_and_closes_it() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])
    opened(stage, provider, AGENT)
    stage.run()
    keeper = CircuitKeeper(
        lane=AGENT,
        circuits=stage.circuits[AGENT],
        journal=stage.journal,
        clock=stage.clock,
        logger=stage.log,  # type: ignore[arg-type]
    )

    async def search() -> None:
        claim = await keeper.claim([provider.id], known=await keeper.known(), within_s=1.0)
        assert claim.providers == {provider.id}
        good = Incident(revision=revision_of(provider.source), effect=Effect.SUCCESS, trial_id=claim.trial_id)
        await keeper.settle({provider.id: good}, known=claim.known, within_s=1.0)

    asyncio.run(search())
    assert stage.circuits[AGENT].circuits == {}
    assert [each.happening for each in stage.journal.entries] == [
        Happening.CIRCUIT_HALF_OPENED,
        Happening.CIRCUIT_CLOSED,
    ]
