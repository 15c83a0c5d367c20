"""Any order of events, on the embedded backend: what must hold of circuits that several instances share."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from shared.domain.circuits import Lane
from shared.services import circuit_writer
from tests.contract.circuit_model import ANSWERS, INSTANCES, PROVIDERS, CircuitModel, Event, Search
from tests.contract.worlds import StoreWorld

INSTANCE = st.integers(0, INSTANCES - 1)
PROVIDER = st.integers(0, PROVIDERS - 1)
LANE = st.sampled_from(Lane)
FAILURE = st.sampled_from(["timeout", "dropped", "fault", "refused"])
_ANSWER = st.sampled_from(sorted(ANSWERS)) | st.sampled_from(["ok", "timeout", "refused"])
_ANSWERS = st.tuples(*[_ANSWER] * PROVIDERS)
_JITTER = st.sampled_from([-1.0, 0.0, 0.5, 1.0])
_TAKES_S = st.sampled_from([0.0, 0.0, 8.0, 45.0])
_EVENT = st.builds(Event, what=st.sampled_from(["put_back", "probe", "mended", "rewritten", "time"]), provider=PROVIDER)
_QUICK = st.builds(
    Search, instance=INSTANCE, lane=LANE, answers=_ANSWERS, jitter=_JITTER, killed=st.sampled_from([False, False, True])
)
_MEANWHILE = st.just(()) | st.lists(_QUICK | _QUICK | _EVENT, max_size=4).map(tuple)
SEARCH = st.builds(
    Search,
    instance=INSTANCE,
    lane=LANE,
    answers=_ANSWERS,
    jitter=_JITTER,
    takes_s=_TAKES_S,
    killed=st.sampled_from([False, False, False, True]),
    hurried=st.sampled_from([False, False, True]),
    between=_MEANWHILE,
    meanwhile=_MEANWHILE,
)


def only(provider: int, answer: str) -> tuple[str, str, str]:
    """The others say nothing."""
    one, two, three = (answer if number == provider else "hurried" for number in range(PROVIDERS))
    return one, two, three


class CircuitMachine(RuleBasedStateMachine):
    world: StoreWorld

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.model = CircuitModel(self.world)

    def teardown(self) -> None:
        try:
            self.runner.run(self.model.check_journal())
        finally:
            self.model.close()
            self.runner.close()

    @rule(search=SEARCH)
    def somebody_searches(self, search: Search) -> None:
        self.runner.run(self.model.search(search))

    @rule(instance=INSTANCE, lane=LANE, provider=PROVIDER, failure=FAILURE, times=st.integers(3, 6), jitter=_JITTER)
    def a_provider_fails_again_and_again(
        self, instance: int, lane: Lane, provider: int, failure: str, times: int, jitter: float
    ) -> None:
        """Each time as soon as it may be asked."""
        for turn in range(times):
            self._wait_until_free(lane, provider)
            search = Search((instance + turn) % INSTANCES, lane, answers=only(provider, failure), jitter=jitter)
            self.runner.run(self.model.search(search))

    @rule(instance=INSTANCE, lane=LANE, provider=PROVIDER, failure=FAILURE, late=_ANSWER)
    def an_answer_comes_when_it_has_opened(
        self, instance: int, lane: Lane, provider: int, failure: str, late: str
    ) -> None:
        self._wait_until_free(lane, provider)
        failing = Search((instance + 1) % INSTANCES, lane, answers=only(provider, failure))
        search = Search(instance, lane, answers=only(provider, late), takes_s=8.0, meanwhile=(failing,) * 5)
        self.runner.run(self.model.search(search))

    @rule(
        instances=st.permutations(range(INSTANCES)), lane=LANE, provider=PROVIDER, answers=st.tuples(_ANSWER, _ANSWER)
    )
    def two_read_that_a_trial_is_due(
        self, instances: list[int], lane: Lane, provider: int, answers: tuple[str, str]
    ) -> None:
        """And both want it. Who gets it waits for longer than its lease, so that a third takes it over."""
        self._wait_until_free(lane, provider)
        third = Search(instances[2], lane, answers=only(provider, answers[1]))
        first = Search(
            instances[0], lane, answers=only(provider, answers[0]), meanwhile=(third, Event("time", provider), third)
        )
        self.runner.run(self.model.search(replace(third, instance=instances[1], between=(first,))))
        late = replace(third, killed=True)
        self._wait_until_free(lane, provider)
        self.runner.run(self.model.search(replace(first, meanwhile=(Event("time", provider), late))))

    @rule(lane=LANE, provider=PROVIDER, instance=INSTANCE)
    def whoever_held_the_trial_and_was_killed_is_replaced(self, lane: Lane, provider: int, instance: int) -> None:
        self._wait_until_free(lane, provider)
        search = Search(instance, lane, answers=only(provider, "ok"), killed=True)
        killed = self.runner.run(self.model.search(search))
        if self._id(provider) not in killed.held:
            return
        at_once = self.runner.run(self.model.search(Search(instance, lane, answers=only(provider, "ok"))))
        assert self._id(provider) not in at_once.asked
        self.model.advance(30.0 + 5.0)
        other = Search((instance + 1) % INSTANCES, lane, answers=only(provider, "ok"))
        assert self._id(provider) in self.runner.run(self.model.search(other)).held

    @rule(lane=LANE, provider=PROVIDER, instance=INSTANCE)
    def whatever_is_open_recovers_by_itself(self, lane: Lane, provider: int, instance: int) -> None:
        self._wait_until_free(lane, provider)
        known = self.runner.run(self.model.known(lane)).circuits.get(self._id(provider))
        going = self.runner.run(self.model.search(Search(instance, lane, answers=only(provider, "ok"))))
        is_asked = lane is Lane.AGENT or provider < PROVIDERS - 1
        is_lost = known is not None and bool(known.disabled_at)
        assert (self._id(provider) in going.asked) == (is_asked and not is_lost)
        if self._id(provider) in going.held:
            assert self._id(provider) not in self.runner.run(self.model.known(lane)).circuits

    @rule(seconds=st.sampled_from([0.5, 8.0, 31.0, 65.0, 1_000.0, 4_000.0]))
    def time_passes(self, seconds: float) -> None:
        self.model.advance(seconds)

    @rule(instance=INSTANCE, off_s=st.sampled_from([-3.0, 0.0, 2.0]))
    def a_clock_steps(self, instance: int, off_s: float) -> None:
        self.model.instances[instance].clock.off_s = off_s

    @rule(event=_EVENT)
    def something_happens(self, event: Event) -> None:
        self.runner.run(self.model.happens(event))

    def _id(self, provider: int) -> str:
        return self.model.sources[provider].id

    def _wait_until_free(self, lane: Lane, provider: int) -> None:
        """Until every clock says so."""
        circuit = self.runner.run(self.model.known(lane)).circuits.get(self._id(provider))
        slowest = min(each.clock.now() for each in self.model.instances)
        free_at = None if circuit is None else circuit.free_at(slowest)
        if free_at is not None and free_at > slowest:
            self.model.advance(free_at - slowest + 0.001)


@pytest.mark.emulator
@pytest.mark.slow
def test_whatever_happens_the_circuits_keep_their_promises(store: StoreWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few runs, the same ones each time; HYPOTHESIS_PROFILE=explore looks for more. However slow the machine is, no
    claim is given up.
    """
    monkeypatch.setattr(circuit_writer, "CLAIMING_S", 60.0)

    class Machine(CircuitMachine):
        world = store

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=settings.default.max_examples // 10,
            stateful_step_count=25,
            suppress_health_check=list(HealthCheck),
        ),
    )
