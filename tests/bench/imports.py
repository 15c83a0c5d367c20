"""What it costs to import each function's handler, from bytecode, in CPU time of a fresh process; what a first search
costs besides; and where an import spends its time.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from tests.bench.fresh import FUNCTIONS, cpu_ms_of
from tests.bench.measure import Row
from tests.bench.waterfall import waterfalls
from tests.bench.world import ORIGIN, Gateway, World

ROUNDS: Final = 15
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
# What a function that asks providers cannot do without as it is built: the baseline without its client of DynamoDB.
FLOOR: Final = BASELINE[BASELINE.index("import httpx") :]
BAR: Final = 1.25  # of the search handler, to the libraries and boto3
# To the floor: what was measured and a sixth, so that an import too many is noticed.
_TO_FLOOR: Final = {
    "search": 1.65,
    "widget": 1.5,
    "lookup": 1.1,
    "live": 1.75,
    "mcp": 1.8,
    "assets": 0.7,
    "admin": 2.4,
    "probe": 1.65,
}
_FIRST_TO_FLOOR: Final = {"search": 1.95, "widget": 1.85}
_NOTE = "beside the libraries alone; from bytecode, process start included, packages of the tests out of sight"


def rows(world: World) -> Iterator[Row]:
    """In one round all of them take their turn, so that one baseline does for all."""
    imports = [
        _Cold(f"import of the {name} handler", f"import functions.{name}.handler", _TO_FLOOR[name])
        for name in FUNCTIONS
    ]
    yield from _compared(imports, world.environment)
    search = _Cold("import of the search handler, to the libraries and boto3", "import functions.search.handler", BAR)
    yield from _compared([search], world.environment, baseline=BASELINE)
    yield from _first_searches(world)
    yield from waterfalls(world.environment)


class _Cold(NamedTuple):
    """What a fresh process runs."""

    row: str
    code: str
    bar: float


def _first_searches(world: World) -> Iterator[Row]:
    gateway = world.gateway([world.provider(0)] * PROVIDERS)
    firsts = [
        _Cold(
            f"first search of the {name} function, {PROVIDERS} x 10 results",
            f"{_FIRST}\nask({name!r}, {event!r})",
            _FIRST_TO_FLOOR[name],
        )
        for name, event in (("search", _agents(gateway)), ("widget", _visitors(gateway)))
    ]
    yield from _compared(
        firsts,
        gateway.environment,
        note="import and request together: a cold start in all; the baseline imports and asks nobody",
    )


def _compared(
    colds: Sequence[_Cold], environment: Mapping[str, str], *, baseline: str = FLOOR, note: str = _NOTE
) -> Iterator[Row]:
    codes = {baseline, *(cold.code for cold in colds)}
    # The first turn warms the files up.
    turns = [{code: cpu_ms_of(code, environment) for code in codes} for _ in range(ROUNDS + 1)][1:]
    medians = {code: statistics.median(turn[code] for turn in turns) for code in codes}
    for cold in colds:
        yield Row(cold.row, medians[cold.code], medians[baseline], "ms CPU", cold.bar, note, ROUNDS)


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
