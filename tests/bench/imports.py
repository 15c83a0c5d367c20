"""What it costs to import each function's handler, from bytecode, in CPU time of a fresh process; what a first search
costs besides; and where an import spends its time.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping
from typing import Final

from tests.bench.fresh import FUNCTIONS, cpu_ms_of
from tests.bench.measure import Row
from tests.bench.waterfall import waterfalls
from tests.bench.world import ORIGIN, Gateway, World

ROUNDS: Final = 9
PROVIDERS: Final = 10

BASELINE: Final = """
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
# What a function cannot do without as it is built: the baseline without its client of DynamoDB.
FLOOR: Final = BASELINE[BASELINE.index("import httpx") :]
_BARS: Final = {"search": 1.25, "mcp": 1.4}
_NOTE = "from bytecode, process start included, packages of the tests out of sight"


def rows(world: World) -> Iterator[Row]:
    """In one round all of them take their turn, so that one baseline does for all."""
    codes = {f"import of the {name} handler": f"import functions.{name}.handler" for name in FUNCTIONS}
    yield from _compared(codes | {"httpx, pydantic and Powertools alone": FLOOR}, world.environment)
    yield from _first_searches(world)
    yield from waterfalls(world.environment)


def _first_searches(world: World) -> Iterator[Row]:
    gateway = world.gateway([world.provider(0)] * PROVIDERS)
    codes = {
        f"first search of the {name} function, {PROVIDERS} x 10 results": f"{_FIRST}\nask({name!r}, {event!r})"
        for name, event in (("search", _agents(gateway)), ("widget", _visitors(gateway)))
    }
    yield from _compared(codes, gateway.environment, note="import and request together: a cold start in all")


def _compared(codes: Mapping[str, str], environment: Mapping[str, str], *, note: str = _NOTE) -> Iterator[Row]:
    turns = [_turn(codes, environment) for _ in range(ROUNDS + 1)][1:]  # the first one warms the files up
    baseline = statistics.median(turn[BASELINE] for turn in turns)
    for name in codes:
        ours = statistics.median(turn[name] for turn in turns)
        yield Row(name, ours, baseline, "ms CPU", _bar_of(name), note, ROUNDS)


def _turn(codes: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, float]:
    return {name: cpu_ms_of(code, environment) for name, code in {**codes, BASELINE: BASELINE}.items()}


def _bar_of(row: str) -> float | None:
    return next((bar for name, bar in _BARS.items() if row == f"import of the {name} handler"), None)


# Our measures go to standard output, where the figure is awaited.
_FIRST: Final = """
import contextlib, importlib, io, json
def ask(name, event):
    handler = importlib.import_module(f"functions.{name}.handler").handler
    with contextlib.redirect_stdout(io.StringIO()):
        answer = handler(event, None)
    assert answer["statusCode"] == 200 and json.loads(answer["body"])["results"], answer
"""


def _agents(gateway: Gateway) -> dict[str, object]:
    body = {"query": "how do I change a booking", "limit": 50, "locale": "en"}
    return _event("/api/v1/knowledge/search", body, authorization=f"Bearer {gateway.agent}")


def _visitors(gateway: Gateway) -> dict[str, object]:
    body = {"query": "how do I change a booking", "limit": 10, "locale": "en"}
    path = "/api/v1/knowledge/widget/search"
    return _event(path, body, authorization=f"Bearer {gateway.widget}", origin=ORIGIN)


def _event(path: str, body: Mapping[str, object], **headers: str) -> dict[str, object]:
    return {
        "version": "2.0",
        "rawPath": path,
        "headers": {"content-type": "application/json", **headers},
        "requestContext": {"http": {"method": "POST", "sourceIp": "127.0.0.1"}, "stage": "$default"},
        "body": json.dumps(body),
    }
