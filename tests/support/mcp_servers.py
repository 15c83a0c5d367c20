"""MCP servers on 127.0.0.1: real ones, made with two SDKs, and one that is as bad as it is told to be.

with bad_mcp_server() as server:
    server.play([{"status": 404, "text": "gone"}, {"json": {...}}], framing=Framing.BYTE_BY_BYTE)
    server.url            # http://127.0.0.1:<port>/mcp
    server.seen           # what arrived, oldest first
    server.is_left        # whether every connection was closed by the other side

with real_mcp_server(app) as server: ...
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import uvicorn

from tests.support.hostile_provider import Seen, Wire, read_request, serving

STREAM = "text/event-stream"


class Framing(Enum):
    """How the lines of a stream end, and in what pieces a body goes out."""

    WHOLE = "\n"
    WINDOWS = "\r\n"
    RETURNS = "\r"
    BYTE_BY_BYTE = "\n "
    WINDOWS_BYTE_BY_BYTE = "\r\n "

    @property
    def line_end(self) -> str:
        return self.value.strip(" ")

    @property
    def is_in_bytes(self) -> bool:
        return self.value.endswith(" ")


@dataclass(slots=True)
class BadMcpServer:
    """Plays recorded answers, one a request; the last one repeats."""

    port: int = 0
    seen: list[Seen] = field(default_factory=list)
    open_connections: int = 0
    _steps: list[dict[str, Any]] = field(default_factory=list)
    _framing: Framing = Framing.WHOLE

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/mcp"

    @property
    def methods(self) -> list[str]:
        return [seen.json["method"] for seen in self.seen]

    def play(self, steps: list[dict[str, Any]], *, framing: Framing = Framing.WHOLE) -> None:
        self._steps, self._framing = list(steps), framing
        self.seen.clear()

    def is_left(self, *, within_s: float = 3.0) -> bool:
        end = time.monotonic() + within_s
        while self.open_connections and time.monotonic() < end:
            time.sleep(0.005)
        return self.open_connections == 0

    async def serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open_connections += 1
        wire = Wire(reader, writer)
        try:
            while True:
                self.seen.append(await read_request(reader, 0, 0))
                step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
                await _answer(wire, step, framing=self._framing, number=self.seen[-1].json.get("id"))
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self.open_connections -= 1
            writer.close()


@contextlib.contextmanager
def bad_mcp_server() -> Iterator[BadMcpServer]:
    server = BadMcpServer()
    with serving(server.serve_connection) as server.port:
        yield server


async def _answer(wire: Wire, step: dict[str, Any], *, framing: Framing, number: int | None) -> None:
    content_type, body = body_of(step, number=number, line_end=framing.line_end)
    typed = {"Content-Type": content_type} if content_type else {}
    headers = "".join(f"{name}: {value}\r\n" for name, value in {**typed, **step.get("headers", {})}.items())
    status = f"{step.get('status', 200)} Whatever"
    if not body or not (step.get("keepOpen") or framing.is_in_bytes):
        await wire.answer(body, status=status, headers=headers)
        return
    pieces = [body[at : at + 1] for at in range(len(body))] if framing.is_in_bytes else [body]
    chunks = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces] + [b"0\r\n\r\n"] * (not step.get("keepOpen"))
    head = f"HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\n{headers}\r\n".encode()
    if not step.get("pauseS"):
        await wire.send(head + b"".join(chunks))
    for sent in (head, *chunks) if step.get("pauseS") else ():
        await wire.send(sent)
        await asyncio.sleep(step["pauseS"])
    if step.get("keepOpen"):
        await wire.reader.read()  # until the other side leaves


def body_of(step: dict[str, Any], *, number: int | None, line_end: str = "\n") -> tuple[str, bytes]:
    """Content type and body of a recorded answer to the request `number`."""
    if "stream" in step:
        lines = (line if isinstance(line, str) else "data: " + json.dumps(line["data"]) for line in step["stream"])
        text, usual = "".join(line + line_end for line in lines), STREAM
    elif "json" in step:
        text, usual = json.dumps(step["json"], ensure_ascii=False), "application/json"
    else:
        text, usual = step["text"], "text/plain"
    text = text.replace('"$text"', f'"{number}"')
    for name, value in (("id", number), ("other", (number or 0) + 1)):
        text = text.replace(f'"${name}"', str(value)).replace(f"${name}", str(value))
    return step.get("type", usual), text.encode().replace(b"\\xff", b"\xff")


@dataclass(slots=True)
class RealServer:
    """`seen` holds method, path and headers of each request."""

    port: int
    seen: list[tuple[str, str, dict[str, str]]]
    has_sessions: bool = False

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextlib.contextmanager
def real_mcp_server(app: Callable[..., Any]) -> Iterator[RealServer]:
    """Serves an ASGI application, lifespan and all, on a thread of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    running = RealServer(listener.getsockname()[1], [])

    async def noted(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            running.seen.append((scope["method"], scope["path"], headers))
        await app(scope, receive, send)

    config = uvicorn.Config(noted, log_config=None, lifespan="on", timeout_graceful_shutdown=1, ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), name="mcp-server")
    thread.start()
    end = time.monotonic() + 20
    try:
        while not server.started:
            if time.monotonic() > end or not thread.is_alive():
                raise RuntimeError("the MCP server did not start")
            time.sleep(0.005)
        yield running
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()
