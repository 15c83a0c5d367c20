"""What it costs to import a handler that agents wait for, from bytecode, in CPU time of a fresh process."""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.bench.measure import Row, interleaved

PROJECT = Path(__file__).resolve().parents[2]

_BASELINE = """
import boto3
boto3.client("dynamodb", region_name="eu-central-1")
import httpx
httpx.AsyncClient()
from pydantic import BaseModel
class Model(BaseModel):
    a: int
    b: str
from aws_lambda_powertools import Logger
Logger(service="x")
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
APIGatewayHttpResolver()
"""
# The tools answer what three functions answer, and speak a protocol besides.
_BARS = {"search": 1.25, "mcp": 1.4}
_REPORT = "\nimport time; print(time.process_time() * 1000)"


def rows(environment: dict[str, str]) -> Iterator[Row]:
    for room in ("functions", "shared"):
        compileall.compile_dir(PROJECT / room, quiet=1)
    for name, bar in _BARS.items():
        yield _row(name, environment, bar=bar)


def _row(name: str, environment: dict[str, str], *, bar: float, rounds: int = 9) -> Row:
    code = f"import functions.{name}.handler"
    ours, baseline = interleaved(
        lambda: _cpu_of(code, environment), lambda: _cpu_of(_BASELINE, environment), rounds=rounds
    )
    note = "from bytecode, process start included"
    return Row(f"import of the {name} handler", ours, baseline, "ms CPU", bar, note)


def _cpu_of(code: str, environment: dict[str, str]) -> float:
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", code + _REPORT],
        cwd=PROJECT,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)
