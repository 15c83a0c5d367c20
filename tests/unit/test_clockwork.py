"""What runs by the clock on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, cast

from infra.local.clockwork import Clockwork
from infra.local.pool import FunctionFailed, Pool


class ScriptedPool:
    """Notes each invocation; fails those whose number is in `failing`."""

    def __init__(self, *failing: int) -> None:
        self.failing = failing
        self.ids: list[str] = []

    def invoke(self, event: Mapping[str, Any], *, request_id: str) -> object:
        assert event == {}
        self.ids.append(request_id)
        if len(self.ids) in self.failing:
            raise FunctionFailed
        return {}


def await_(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def drive(pool: ScriptedPool) -> tuple[Clockwork, list[str]]:
    said: list[str] = []
    clockwork = Clockwork(every_s=0.02, say=said.append)
    clockwork.drive("probe", cast("Pool", pool))
    return clockwork, said


def test_a_function_runs_again_and_again_until_it_is_stopped() -> None:
    pool = ScriptedPool()
    clockwork, said = drive(pool)
    await_(lambda: len(pool.ids) >= 3)
    clockwork.stop()
    time.sleep(0.1)
    count = len(pool.ids)
    time.sleep(0.2)

    assert len(pool.ids) == count
    assert len(set(pool.ids)) == count
    assert said == []


def test_a_run_that_fails_is_told_and_the_next_one_comes() -> None:
    pool = ScriptedPool(1)
    clockwork, said = drive(pool)
    await_(lambda: len(pool.ids) >= 2)
    clockwork.stop()

    assert said == ["probe did not finish its run: FunctionFailed"]
