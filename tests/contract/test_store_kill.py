"""A process that is killed in the middle of its writes leaves the old state or the new one, never half of either."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tests.contract.invariants import check_invariants
from tests.contract.worlds import StoreWorld

_KILLS = 8
_WRITES_BEFORE = 20


@pytest.mark.emulator
@pytest.mark.slow
def test_a_killed_writer_leaves_nothing_half_written(store: StoreWorld, aws_environment: dict[str, str]) -> None:
    found = 0
    for round_number in range(_KILLS):
        reported = _write_and_kill(aws_environment, prefix=f"round {round_number}")
        before, found = found, check_invariants(store)
        assert found - before >= reported, "what was reported as done is there"
    assert found > _KILLS * _WRITES_BEFORE


def _write_and_kill(environment: dict[str, str], *, prefix: str) -> int:
    """Kills a writer at a random moment, once it is under way. Returns how many writes it had reported."""
    writer = subprocess.Popen(
        [sys.executable, "-m", "tests.contract.writer", prefix],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        for _ in range(_WRITES_BEFORE):
            if not writer.stdout.readline():
                raise AssertionError(writer.stderr.read().decode())
        time.sleep(random.uniform(0, 0.05))
    finally:
        writer.send_signal(signal.SIGKILL)
    rest, _ = writer.communicate()
    return _WRITES_BEFORE + rest.count(b"\n")
