"""What the functions set aside from the collector, each in a process of its own."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shared.adapters import long_lived
from tests.unit.test_function_wiring import CARDS, INTERNAL, POOLS, PUBLIC

ROOT = Path(__file__).resolve().parents[2]
AWS = {"AWS_DEFAULT_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
GATEWAY = {**PUBLIC, **INTERNAL, **CARDS, **POOLS, "KG_ROOT_SECRET": "root-secret"}
COUNT = "import gc, functions.{name}.handler; print(gc.get_freeze_count(), len(gc.get_objects()), gc.isenabled())"


@pytest.mark.parametrize("name", ["search", "widget", "lookup", "live", "mcp", "assets", "admin", "probe"])
def test_a_process_that_is_set_up_has_little_left_to_look_through(name: str) -> None:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **AWS, **GATEWAY}
    said = subprocess.run(
        [sys.executable, "-c", COUNT.format(name=name)], env=environment, capture_output=True, text=True, check=True
    )
    aside, left, is_collecting = said.stdout.split()
    assert int(aside) > 20_000
    assert int(left) < 1_000
    assert is_collecting == "True"


def test_a_process_that_cannot_be_set_up_collects_garbage_again() -> None:
    with pytest.raises(KeyError), long_lived.set_up():
        _fail_without_a_collector()
    assert gc.isenabled()


def _fail_without_a_collector() -> None:
    assert not gc.isenabled()
    raise KeyError
