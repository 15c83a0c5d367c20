"""Any order of events, on the embedded backend: what must hold of a pool that several instances share."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from tests.contract.pool_model import ANSWERS, CONCERN_THE_KEY, INSTANCES, KEYS, PoolModel, Step
from tests.contract.worlds import StoreWorld

INSTANCE = st.integers(0, INSTANCES - 1)
KEY = st.integers(0, KEYS - 1)
_WAIT = st.sampled_from(["5", "40", "40", "600"]) | st.sampled_from([None, "0", "1.5", "90000", "99999999999"])
_ANSWER = st.sampled_from(sorted(CONCERN_THE_KEY)) | st.sampled_from(sorted(ANSWERS))
_TAKES_S = st.sampled_from([0.0, 0.0, 0.0, 1.0, 11.5])
_QUICK_STEP = st.builds(Step, answer=_ANSWER, wait=_WAIT)
_MEANWHILE = st.tuples(INSTANCE, st.lists(_QUICK_STEP, min_size=1, max_size=2).map(tuple))
_STEP = st.builds(Step, answer=_ANSWER, wait=_WAIT, takes_s=_TAKES_S, meanwhile=st.none() | _MEANWHILE)
_PLAN = st.lists(_STEP, min_size=1, max_size=KEYS).map(tuple)
_OPERATIONS = st.lists(st.tuples(INSTANCE, _PLAN), min_size=1, max_size=4)


class PoolMachine(RuleBasedStateMachine):
    world: StoreWorld

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.model = PoolModel(self.world)
        self.replaced = 0

    def teardown(self) -> None:
        self.runner.close()

    @rule(operations=_OPERATIONS)
    def instances_operate(self, operations: list[tuple[int, tuple[Step, ...]]]) -> None:
        for instance, plan in operations:
            self.runner.run(self.model.operate(instance, plan))

    @rule(operations=_OPERATIONS)
    def instances_operate_while_there_is_room(self, operations: list[tuple[int, tuple[Step, ...]]]) -> None:
        if self.model.limit < 1_000:
            self.runner.run(self.model.change(1_000))
        self.model.advance(601.0)
        self.instances_operate(operations)

    @rule(instance=INSTANCE)
    def whatever_is_exhausted_recovers_by_itself(self, instance: int) -> None:
        refused = self.runner.run(self.model.operate(instance, ()))
        if refused.error is None or refused.error.retry_at is None:
            return
        clock = self.model.instances[instance].clock
        assert refused.error.retry_at > clock.now()
        self.model.advance(refused.error.retry_at - clock.now() + 0.001)
        again = self.runner.run(self.model.operate(instance, ()))
        assert again.error is None or (refused.code, again.code) == ("keys_exhausted", "allowance_exhausted")

    @rule(seconds=st.sampled_from([0.5, 5.0, 61.0, 601.0, 1_800.0, 43_200.0, 90_000.0]))
    def time_passes(self, seconds: float) -> None:
        self.model.advance(seconds)

    @rule(instance=INSTANCE, off_s=st.sampled_from([-5.0, -0.5, 0.0, 2.0, 30.0]))
    def a_clock_steps(self, instance: int, off_s: float) -> None:
        self.model.instances[instance].clock.off_s = off_s
        self.model.note_clocks()

    @rule(key=KEY, seconds=st.sampled_from([1.0, 100.0, 100_000.0]))
    def an_operator_lays_a_key_to_rest(self, key: int, seconds: float) -> None:
        self.runner.run(self.model.rest(key, seconds))

    @rule(keys=st.sets(KEY, min_size=1))
    def an_operator_wakes_keys(self, keys: set[int]) -> None:
        for key in sorted(keys):
            self.runner.run(self.model.wake(key))

    @rule(key=KEY)
    def an_operator_replaces_a_key(self, key: int) -> None:
        self.replaced += 1
        self.model.set_key(key, f"k-demo-new-{self.replaced}")

    @rule(instance=INSTANCE)
    def an_instance_reads_its_keys_anew(self, instance: int) -> None:
        self.model.refresh(instance)

    @rule(limit=st.sampled_from([1_000, 20, 5, 1, 0]))
    def an_operator_sets_the_limit(self, limit: int) -> None:
        self.runner.run(self.model.change(limit))

    @rule(happened=st.integers(0, 2), did_not_happen=st.integers(0, 2))
    def an_operator_reviews_what_is_unknown(self, happened: int, did_not_happen: int) -> None:
        review = self.model.change(self.model.limit, happened=happened, did_not_happen=did_not_happen)
        self.runner.run(review)


@pytest.mark.emulator
@pytest.mark.slow
def test_whatever_happens_the_pool_keeps_its_promises(store: StoreWorld) -> None:
    """A few runs, the same ones each time; HYPOTHESIS_PROFILE=explore looks for more."""

    class Machine(PoolMachine):
        world = store

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=settings.default.max_examples // 5,
            stateful_step_count=40,
            suppress_health_check=list(HealthCheck),
        ),
    )
