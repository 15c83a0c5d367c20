"""A hosted service in a process of its own: `python -m tests.bench.live_process DELAY_MS` prints its port.

It answers every POST after the delay: a call of a tool under /mcp, documents elsewhere. A key that begins with `spent`
is refused for its quota, and `POST /refusals` answers how often that happened.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys

TEXT = "Open your booking, choose a new crossing and confirm the difference in fare. " * 40
DOCUMENTS = {"results": [{"url": "https://docs.example.com/fares", "title": "Fares", "text": TEXT}]}
SPENT = json.dumps({"error": "No credit is left.", "tag": "API_KEY_BUDGET_EXCEEDED"}).encode()


class Service:
    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self._refusals = 0

    async def serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in _lines(head))}
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                status, answer = await self._answer(head.split()[1], headers, body)
                writer.write(_head(status, len(answer)) + answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        if path == "/refusals":
            return 200, str(self._refusals).encode()
        await asyncio.sleep(self._delay_s)
        if headers.get("x-api-key", "").startswith("spent"):
            self._refusals += 1
            return 402, SPENT
        if path != "/mcp":
            return 200, json.dumps(DOCUMENTS).encode()
        result = {"content": [{"type": "text", "text": TEXT}], "isError": False}
        return 200, json.dumps({"jsonrpc": "2.0", "id": json.loads(body)["id"], "result": result}).encode()


def _lines(head: str) -> list[str]:
    return [line for line in head.split("\r\n")[1:] if line]


def _head(status: int, length: int) -> bytes:
    return f"HTTP/1.1 {status} Whatever\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode()


async def _main(delay_s: float) -> None:
    service = Service(delay_s)
    server = await asyncio.start_server(service.serve_connection, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)  # nobody waits for the connections that are still open


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]) / 1000))
