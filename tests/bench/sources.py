"""What the counted functions ask: providers of the contract and a hosted service, one server that notes each call."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.bench import live_process, provider_process
from tests.bench.counting_proxy import served

_CAPABILITIES = json.dumps({"contractVersion": 1, "capabilities": {"scoring": True, "locale": True}}).encode()
_PAGE = live_process.DOCUMENTS["results"][0]["url"]
_DOCUMENTS = json.dumps(
    {
        "results": [{**document, "id": document["url"]} for document in live_process.DOCUMENTS["results"]],
        "statuses": [{"id": _PAGE, "status": "success"}],
    }
).encode()


@dataclass
class Sources:
    """`asked` has the moment of every call, of `time.monotonic`, and its path."""

    port: int = 0
    asked: list[tuple[float, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def first_asked_s(self) -> float:
        """Since `asked` was last emptied; infinite where nobody was asked."""
        return min((moment for moment, _ in self.asked), default=float("inf"))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                lines = (line.partition(":") for line in head.split("\r\n")[1:])
                headers = {name: value.strip() for name, _, value in lines}
                await reader.readexactly(int(headers.get("content-length", "0")))
                path = head.split()[1]
                self.asked.append((time.monotonic(), path))
                body = _answer(path)
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                    % (len(body), body)
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def _answer(path: str) -> bytes:
    if path.endswith("/retrieve"):
        return provider_process.BODY
    return _CAPABILITIES if path.endswith("/capabilities") else _DOCUMENTS


@contextmanager
def sources() -> Iterator[Sources]:
    found = Sources()
    with served(found.serve) as found.port:
        yield found
