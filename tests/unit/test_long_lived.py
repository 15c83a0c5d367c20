"""What the functions that answer searches set aside from the collector, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.test_function_wiring import CARDS, INTERNAL, POOLS, PUBLIC

ROOT = Path(__file__).resolve().parents[2]
AWS = {"AWS_DEFAULT_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
COUNT = "import gc, functions.{name}.handler; print(gc.get_freeze_count(), len(gc.get_objects()))"


@pytest.mark.parametrize("name", ["search", "widget", "lookup", "mcp"])
def test_a_process_that_is_set_up_has_little_left_to_look_through(name: str) -> None:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **AWS, **PUBLIC, **INTERNAL, **CARDS, **POOLS}
    said = subprocess.run(
        [sys.executable, "-c", COUNT.format(name=name)], env=environment, capture_output=True, text=True, check=True
    )
    aside, left = map(int, said.stdout.split())
    assert aside > 20_000
    assert left < 1_000
