"""A provider in a process of its own: answers every request with ten results after a set delay.

`python -m tests.bench.provider_process DELAY_MS [MANNER]` prints its port and serves until its standard input closes.
It speaks just enough HTTP to be fast, so that what is measured is the client. It `answers`; one that `hangs` never
does, one that `dribbles` sends a byte each time after so long, and one that `fails` answers 500.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from functools import partial

RESULTS = [
    {
        "documentId": f"doc-{i}",
        "title": f"Changing a booking, part {i}",
        "snippet": "Open your booking, choose a new crossing and confirm the difference in fare. " * 6,
        "audience": "public",
        "url": f"https://help.ferry-line.example/articles/{i}",
        "locale": "en",
        "score": 1 - i / 100,
        "revision": "r7",
        "chunkId": f"c{i}",
        "freshness": "current",
    }
    for i in range(10)
]
BODY = json.dumps({"contractVersion": 1, "results": RESULTS}).encode()
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
    + str(len(BODY)).encode()
    + b"\r\n\r\n"
    + BODY
)
_FOR_EVER_S = 3_600
FAILURE = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"


async def _serve_connection(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, delay_s: float, manner: str
) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
            )
            await reader.readexactly(length)
            await _ANSWERED[manner](writer, delay_s)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def _answer(writer: asyncio.StreamWriter, delay_s: float, *, answer: bytes = ANSWER) -> None:
    if delay_s:
        await asyncio.sleep(delay_s)
    writer.write(answer)
    await writer.drain()


async def _hang(writer: asyncio.StreamWriter, delay_s: float) -> None:
    await asyncio.sleep(_FOR_EVER_S)


async def _dribble(writer: asyncio.StreamWriter, delay_s: float) -> None:
    for place in range(len(ANSWER)):
        await _answer(writer, delay_s, answer=ANSWER[place : place + 1])


_ANSWERED: dict[str, Callable[[asyncio.StreamWriter, float], Awaitable[None]]] = {
    "answers": _answer,
    "hangs": _hang,
    "dribbles": _dribble,
    "fails": partial(_answer, answer=FAILURE),
}


async def _main(delay_s: float, manner: str) -> None:
    serve = partial(_serve_connection, delay_s=delay_s, manner=manner)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)  # nobody waits for the connections that are still open


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]) / 1000, next(iter(sys.argv[2:]), "answers")))
