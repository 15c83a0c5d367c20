"""What it costs to import the search handler, from bytecode, in CPU time of a fresh process."""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
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
_OURS = "import functions.search.handler"
_REPORT = "\nimport time; print(time.process_time() * 1000)"


def row(environment: dict[str, str], *, rounds: int = 9) -> Row:
    for room in ("functions", "shared"):
        compileall.compile_dir(PROJECT / room, quiet=1)
    ours, baseline = interleaved(
        lambda: _cpu_of(_OURS, environment), lambda: _cpu_of(_BASELINE, environment), rounds=rounds
    )
    return Row("import of the search handler", ours, baseline, "ms CPU", 1.25, "from bytecode, process start included")


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
