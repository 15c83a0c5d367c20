"""A contender's server while it runs, in a process of its own, and the client that asks it over HTTP on loopback."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx

from tests.bench.peers.contenders import ROOT, Contender

HOST = "127.0.0.1"
_START_TIMEOUT_S = 90.0
NOT_AN_ANSWER = (httpx.HTTPError, ValueError, LookupError)


class DidNotStart(Exception):
    """Says why, in words for the table."""


class Running:
    """A contender's server, and the client that asks it, whose connections are kept."""

    def __init__(self, contender: Contender, process: subprocess.Popen[bytes], *, port: int) -> None:
        headers = {"authorization": f"Bearer {contender.token}"} if contender.token else {}
        self.contender = contender
        self.pid = process.pid
        self._process = process
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        self._client = httpx.AsyncClient(
            base_url=f"http://{HOST}:{port}", headers=headers, timeout=30, trust_env=False, limits=limits
        )

    async def search(self, names: Sequence[str]) -> list[Any]:
        """The documents of all answers. Raises `httpx.TransportError` where there is no server."""
        posts = self.contender.posts(names)
        answers = await asyncio.gather(*(self._client.post(post.path, json=post.body) for post in posts))
        return [answer.json() for answer in answers]

    async def until_ready(self, name: str) -> None:
        """Until a search of this provider has found something. Raises `DidNotStart`."""
        until_s = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < until_s:
            if (code := self._process.poll()) is not None:
                raise DidNotStart(f"its server ended with {code} when it started")
            try:
                if self.contender.heard(await self.search([name])) == 1:
                    return
            except NOT_AN_ANSWER:
                pass
            await asyncio.sleep(0.2)
        raise DidNotStart(f"its server found nothing within {_START_TIMEOUT_S:.0f} s")


@contextmanager
def running(contender: Contender) -> Iterator[Running]:
    """Its server ends with its input, and so with this process, however that ends."""
    port = _free_port()
    with subprocess.Popen(
        [*contender.command, str(port)],
        cwd=ROOT,
        env=dict(contender.environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        try:
            yield Running(contender, process, port=port)
        finally:
            process.stdin.close()
            process.wait(timeout=5)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
