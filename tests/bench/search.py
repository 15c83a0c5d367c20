"""Searches against a bare httpx gather of the same calls and one store round trip, side by side in one process."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from collections.abc import Iterator
from typing import Any

import boto3
import httpx

from shared.adapters.event_loop import ProcessLoop
from tests.bench.measure import Row, cpu_ms, interleaved, wall_ms
from tests.bench.world import World

PROVIDER_ANSWERS_AFTER_MS = 50
_QUERY = "how do I change a booking"
_CALLS_PER_SAMPLE = 5


class Ours:
    """The search function's own handler, called as Lambda calls it."""

    def __init__(self, world: World) -> None:
        from functions.search.handler import handler  # its wiring reads the world's environment

        self._handler = handler
        self._token = world.token

    def search(self, providers: tuple[str, ...], *, results: int) -> None:
        body = {"query": _QUERY, "limit": 50, "providers": list(providers), "locale": "en"}
        event = {
            "version": "2.0",
            "rawPath": "/api/v1/knowledge/search",
            "headers": {"authorization": f"Bearer {self._token}", "content-type": "application/json"},
            "requestContext": {"http": {"method": "POST", "sourceIp": "127.0.0.1"}, "stage": "$default"},
            "body": json.dumps(body),
        }
        with contextlib.redirect_stdout(io.StringIO()):  # its measures
            answer = self._handler(event, None)
        document = json.loads(answer["body"])
        assert document["status"] == "complete", document
        assert len(document["results"]) == min(50, results), document


class Bare:
    """What nobody can do without: the calls themselves, their JSON, and one read of the store."""

    def __init__(self, world: World) -> None:
        self._loop = ProcessLoop()
        self._client = httpx.AsyncClient(timeout=10, trust_env=False)
        self._dynamodb = boto3.client("dynamodb")
        self._table = world.environment["KG_TABLE_REGISTRATIONS_INTERNAL"]
        self._body = json.dumps({"query": _QUERY, "limit": 10, "locale": "en"}).encode()

    def gather(self, url: str, count: int, *, with_store: bool) -> None:
        self._loop.run(self._gather(url, count, with_store=with_store))

    async def _gather(self, url: str, count: int, *, with_store: bool) -> None:
        if with_store:
            self._dynamodb.get_item(TableName=self._table, Key={"pk": {"S": "GENERATION"}, "sk": {"S": "-"}})
        answers: list[Any] = await asyncio.gather(*(self._ask(url) for _ in range(count)))
        assert all(len(answer["results"]) == 10 for answer in answers)

    async def _ask(self, url: str) -> Any:
        headers = {"content-type": "application/json"}
        return (await self._client.post(f"{url}/retrieve", content=self._body, headers=headers)).json()


def rows(world: World, *, counts: tuple[int, ...] = (1, 5, 10, 20)) -> Iterator[Row]:
    ours, bare = Ours(world), Bare(world)
    for count in counts:
        ids = world.slow[:count]
        mine, base = interleaved(
            lambda ids=ids: wall_ms(lambda: ours.search(ids, results=10 * len(ids))),
            lambda n=count: wall_ms(lambda: bare.gather(world.slow_url, n, with_store=True)),
        )
        note = f"{mine / PROVIDER_ANSWERS_AFTER_MS:.2f} x the 50 ms themselves; bare {base / 50:.2f} x"
        yield Row(f"search, {count} providers at 50 ms", mine, base, "ms", 1.10, note)
    ids = world.instant[:10]
    mine, base = interleaved(
        lambda: cpu_ms(lambda: _repeat(lambda: ours.search(ids, results=100))) / _CALLS_PER_SAMPLE,
        lambda: (
            cpu_ms(lambda: _repeat(lambda: bare.gather(world.instant_url, 10, with_store=False))) / _CALLS_PER_SAMPLE
        ),
    )
    yield Row("search CPU, 10 providers x 10 results at once", mine, base, "ms CPU", 1.5, "bare has no store read")


def _repeat(work: Any) -> None:
    for _ in range(_CALLS_PER_SAMPLE):
        work()
