"""A real HTTP server on 127.0.0.1 that behaves as badly as it is told to.

The first segment of the path names the behaviour: with `base_url = server.url("drip")` every call to
`{base_url}/retrieve` and `{base_url}/capabilities` is answered by the behaviour `drip`. Whatever follows is free, so
`server.url("good", "second")` is another source with the same behaviour.

    with hostile_provider() as server:
        server.url("redirect")       # http://127.0.0.1:<port>/redirect
        server.requests              # what arrived, oldest first
        server.connections           # how many connections were accepted
        server.open_connections      # how many are open now
        with server.best_behaviour(): ...   # answers like `good` under every path: what a first test needs
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gzip
import json
import socket
import ssl
import struct
import threading
import zlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

MIB = 1_048_576
DRIP_INTERVAL_S = 0.05


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it arrived. Header names are lower-case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int
    nth_on_connection: int

    @property
    def behaviour(self) -> str:
        return self.path.split("/")[1]

    @property
    def is_capabilities(self) -> bool:
        return self.path.endswith("/capabilities")

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body or b"{}")


@dataclass(slots=True)
class Wire:
    """What a behaviour writes to."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(
        self, body: bytes, *, status: str = "200 OK", headers: str = "", length: int | None = None
    ) -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body) if length is None else length}\r\n{headers}\r\n"
        await self.send(head.encode() + body)

    async def answer_json(self, value: object, *, status: str = "200 OK", headers: str = "") -> None:
        await self.answer(json_bytes(value), status=status, headers=JSON_TYPE + headers)

    async def answer_chunked(self, chunks: Iterator[bytes] | list[bytes], *, headers: str = "") -> None:
        await self.send(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n{JSON_TYPE}{headers}\r\n".encode())
        for chunk in chunks:
            await self.send(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        await self.send(b"0\r\n\r\n")

    def reset(self) -> None:
        """Closes with RST instead of FIN."""
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Behaviour = Callable[[Seen, Wire], Awaitable[bool]]  # returns whether the connection may be used again
BEHAVIOURS: dict[str, Behaviour] = {}
JSON_TYPE = "Content-Type: application/json\r\n"


def behaviour(handler: Behaviour) -> Behaviour:
    BEHAVIOURS[handler.__name__] = handler
    return handler


def json_bytes(value: object) -> bytes:
    """As many servers write it: NaN and all."""
    return json.dumps(value, ensure_ascii=False).encode()


def result(number: int = 1, **changes: object) -> dict[str, object]:
    return {
        "documentId": f"doc-{number}",
        "title": f"Ferry passes, part {number}",
        "snippet": f"A ferry pass is valid for {number} days.",
        "audience": "public",
    } | changes


def answer_of(*results: object, **changes: object) -> dict[str, object]:
    return {"contractVersion": 1, "results": list(results)} | changes


def _padded(total: int) -> bytes:
    """A valid answer of exactly `total` bytes."""
    head = json_bytes(answer_of(result()))
    return head + b" " * (total - len(head))


def _asked(seen: Seen) -> int:
    limit = seen.json.get("limit", 10) if seen.method == "POST" else 10
    return int(limit)


# --- behaves ---------------------------------------------------------------------------------------
CAPABILITIES = {"semanticSearch": True, "locale": True, "localeFallback": True, "scoring": True, "citationUrl": True}


async def _answer_well(seen: Seen, wire: Wire, value: object) -> bool:
    if seen.is_capabilities:
        await wire.answer_json({"contractVersion": 1, "capabilities": CAPABILITIES})
    else:
        await wire.answer_json(value)
    return True


@behaviour
async def good(seen: Seen, wire: Wire) -> bool:
    return await _answer_well(seen, wire, answer_of(*(result(n + 1) for n in range(min(3, _asked(seen))))))


@behaviour
async def many(seen: Seen, wire: Wire) -> bool:
    """As many results as were asked for."""
    return await _answer_well(seen, wire, answer_of(*(result(n + 1) for n in range(_asked(seen)))))


@behaviour
async def empty(seen: Seen, wire: Wire) -> bool:
    return await _answer_well(seen, wire, answer_of())


@behaviour
async def minimal(seen: Seen, wire: Wire) -> bool:
    """The smallest provider: no capabilities page."""
    if seen.is_capabilities:
        await wire.answer(b"", status="404 Not Found")
    else:
        await wire.answer_json(answer_of(result()))
    return True


@behaviour
async def slow(seen: Seen, wire: Wire) -> bool:
    """Answers well after 0.4 s."""
    await asyncio.sleep(0.4)
    return await good(seen, wire)


@behaviour
async def zipped(_seen: Seen, wire: Wire) -> bool:
    await wire.answer(gzip.compress(json_bytes(answer_of(result()))), headers=JSON_TYPE + "Content-Encoding: gzip\r\n")
    return True


@behaviour
async def deflated(_seen: Seen, wire: Wire) -> bool:
    body = zlib.compress(json_bytes(answer_of(result())))
    await wire.answer(body, headers=JSON_TYPE + "Content-Encoding: deflate\r\n")
    return True


@behaviour
async def deflated_raw(_seen: Seen, wire: Wire) -> bool:
    """`deflate` as some servers understand it: without the zlib wrapper."""
    squeezer = zlib.compressobj(wbits=-15)
    body = squeezer.compress(json_bytes(answer_of(result()))) + squeezer.flush()
    await wire.answer(body, headers=JSON_TYPE + "Content-Encoding: deflate\r\n")
    return True


@behaviour
async def exactly_one_mib(_seen: Seen, wire: Wire) -> bool:
    body = _padded(MIB)
    await wire.answer_chunked([body[start : start + 65536] for start in range(0, MIB, 65536)])
    return True


@behaviour
async def old_http(_seen: Seen, wire: Wire) -> bool:
    """HTTP/1.0, the end of the body being the end of the connection."""
    await wire.send(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + json_bytes(answer_of(result())))
    return False


@behaviour
async def dies_when_reused(seen: Seen, wire: Wire) -> bool:
    """Keeps the connection open and resets it as soon as it is used a second time."""
    if seen.nth_on_connection > 1:
        wire.reset()
        return False
    return await good(seen, wire)


@behaviour
async def closes_when_reused(seen: Seen, wire: Wire) -> bool:
    """Keeps the connection open, reads what comes a second time to its end, and closes without a byte."""
    return seen.nth_on_connection == 1 and await good(seen, wire)


# --- takes its time --------------------------------------------------------------------------------
@behaviour
async def hang(_seen: Seen, wire: Wire) -> bool:
    await wire.reader.read()  # until the other side gives up
    return False


@behaviour
async def drip(_seen: Seen, wire: Wire) -> bool:
    """Sends its headers, then one byte at a time for a minute."""
    await wire.send(f"HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n{JSON_TYPE}\r\n".encode())
    for _ in range(1200):
        await wire.send(b" ")
        await asyncio.sleep(DRIP_INTERVAL_S)
    return False


@behaviour
async def drip_headers(_seen: Seen, wire: Wire) -> bool:
    await wire.send(b"HTTP/1.1 200 OK\r\n")
    for number in range(1200):
        await wire.send(b"X-%d: y\r\n" % number)
        await asyncio.sleep(DRIP_INTERVAL_S)
    return False


@behaviour
async def endless_early_hints(_seen: Seen, wire: Wire) -> bool:
    for _ in range(1200):
        await wire.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        await asyncio.sleep(DRIP_INTERVAL_S)
    return False


# --- breaks the line -------------------------------------------------------------------------------
@behaviour
async def reset(_seen: Seen, wire: Wire) -> bool:
    wire.reset()
    return False


@behaviour
async def close(_seen: Seen, _wire: Wire) -> bool:
    """Closes without a byte of answer."""
    return False


@behaviour
async def close_in_headers(_seen: Seen, wire: Wire) -> bool:
    await wire.send(b"HTTP/1.1 200 OK\r\nContent-Ty")
    return False


@behaviour
async def close_in_body(_seen: Seen, wire: Wire) -> bool:
    """Announces more than it sends."""
    body = json_bytes(answer_of(result()))
    await wire.answer(body, headers=JSON_TYPE, length=len(body) + 100)
    return False


# --- sends somewhere else --------------------------------------------------------------------------
@behaviour
async def redirect(_seen: Seen, wire: Wire) -> bool:
    await wire.answer(b"", status="302 Found", headers="Location: http://169.254.169.254/latest/\r\n")
    return True


@behaviour
async def redirect_private(_seen: Seen, wire: Wire) -> bool:
    await wire.answer(b"", status="307 Temporary Redirect", headers="Location: https://10.0.0.8/\r\n")
    return True


@behaviour
async def redirect_to_itself(seen: Seen, wire: Wire) -> bool:
    await wire.answer(b"", status="302 Found", headers=f"Location: {seen.path}\r\n")
    return True


# --- lies about size -------------------------------------------------------------------------------
@behaviour
async def announces_too_much(_seen: Seen, wire: Wire) -> bool:
    await wire.answer(json_bytes(answer_of(result())), headers=JSON_TYPE, length=2 * MIB)
    await wire.reader.read()
    return False


@behaviour
async def too_large(_seen: Seen, wire: Wire) -> bool:
    """One byte over 1 MiB, chunked, without any announcement."""
    body = _padded(MIB + 1)
    await wire.answer_chunked([body[start : start + 65536] for start in range(0, len(body), 65536)])
    return True


@behaviour
async def too_large_until_closed(_seen: Seen, wire: Wire) -> bool:
    """No length at all: sends for as long as anybody reads."""
    await wire.send(f"HTTP/1.1 200 OK\r\nConnection: close\r\n{JSON_TYPE}\r\n".encode())
    for _ in range(4096):
        await wire.send(b" " * 65536)
    return False


@behaviour
async def lie_about_size(_seen: Seen, wire: Wire) -> bool:
    """Announces 10 bytes and sends two megabytes."""
    await wire.answer(b" " * 2 * MIB, headers=JSON_TYPE, length=10)
    return True


@behaviour
async def tiny_chunks(_seen: Seen, wire: Wire) -> bool:
    """A megabyte in chunks of one byte: six bytes of wire for each."""
    await wire.send(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n{JSON_TYPE}\r\n".encode())
    for _ in range(1024):
        await wire.send(b"1\r\n \r\n" * 1024)
    await wire.send(b"0\r\n\r\n")
    return True


@behaviour
async def gzip_bomb(_seen: Seen, wire: Wire) -> bool:
    """200 MiB of zeros in about 200 KiB, in one piece."""
    await wire.answer(_bomb(31), headers=JSON_TYPE + "Content-Encoding: gzip\r\n")
    return True


@behaviour
async def deflate_bomb(_seen: Seen, wire: Wire) -> bool:
    await wire.answer_chunked([_bomb(15)], headers="Content-Encoding: deflate\r\n")
    return True


@functools.cache
def _bomb(wbits: int) -> bytes:
    squeezer = zlib.compressobj(9, wbits=wbits)
    zeros = bytes(MIB)
    return b"".join([squeezer.compress(zeros) for _ in range(200)]) + squeezer.flush()


@behaviour
async def huge_headers(_seen: Seen, wire: Wire) -> bool:
    await wire.answer_json(answer_of(result()), headers="".join(f"X-{n}: {'y' * 1000}\r\n" for n in range(200)))
    return True


# --- is coded in a way nobody asked for ------------------------------------------------------------
@behaviour
async def unknown_coding(_seen: Seen, wire: Wire) -> bool:
    await wire.answer(b"\x1b\x03\x00", headers=JSON_TYPE + "Content-Encoding: br\r\n")
    return True


@behaviour
async def cut_gzip(_seen: Seen, wire: Wire) -> bool:
    body = gzip.compress(json_bytes(answer_of(result())))
    await wire.answer(body[:-9], headers=JSON_TYPE + "Content-Encoding: gzip\r\n")
    return True


@behaviour
async def not_gzip(_seen: Seen, wire: Wire) -> bool:
    await wire.answer_json(answer_of(result()), headers="Content-Encoding: gzip\r\n")
    return True


@behaviour
async def two_gzips(_seen: Seen, wire: Wire) -> bool:
    """A second member behind the first."""
    body = gzip.compress(json_bytes(answer_of(result())))
    await wire.answer(body + gzip.compress(b" "), headers=JSON_TYPE + "Content-Encoding: gzip\r\n")
    return True


# --- is not HTTP, or not quite ---------------------------------------------------------------------
@behaviour
async def not_http(_seen: Seen, wire: Wire) -> bool:
    await wire.send(b"220 mail.fern-desk.test ready\r\n\r\n")
    return True


@behaviour
async def two_lengths(_seen: Seen, wire: Wire) -> bool:
    await wire.answer(json_bytes(answer_of(result())), headers=JSON_TYPE + "Content-Length: 7\r\n")
    return True


@behaviour
async def switches_protocols(_seen: Seen, wire: Wire) -> bool:
    await wire.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
    return True


# --- answers with the wrong thing ------------------------------------------------------------------
def _always(name: str, value: object) -> None:
    async def handler(_seen: Seen, wire: Wire) -> bool:
        await wire.answer_json(value)
        return True

    BEHAVIOURS[name] = handler


def _raw(name: str, body: bytes, *, headers: str = JSON_TYPE) -> None:
    async def handler(_seen: Seen, wire: Wire) -> bool:
        await wire.answer(body, headers=headers)
        return True

    BEHAVIOURS[name] = handler


_always("nan", answer_of(result(score=float("nan"))))
_always("infinity", answer_of(result(score=float("-inf"))))
_raw("overflowing_number", b'{"contractVersion":1,"results":[],"x":1e999}')
_raw(
    "duplicate_keys",
    b'{"contractVersion":1,"results":[{"documentId":"a","title":"t","snippet":"s","audience":"internal","audience":"public"}]}',
)
_raw("deep", b'{"contractVersion":1,"results":' + b"[" * 20_000 + b"]" * 20_000 + b"}")
_raw("not_json", b"{")
_raw("not_utf8", b'{"contractVersion":1,"results":["\xff\xfe"]}')
_raw("no_body", b"")
_raw("html", b"<html><body>It works</body></html>", headers="Content-Type: text/html\r\n")
_raw("html_called_json", b"<html><body>It works</body></html>")
_raw("json_called_text", json_bytes(answer_of(result())), headers="Content-Type: text/plain\r\n")
_raw("untyped", json_bytes(answer_of(result())), headers="")
_raw(
    "lone_surrogate",
    b'{"contractVersion":1,"results":[{"documentId":"a","title":"\\ud83d","snippet":"s","audience":"public"}]}',
)
_always("wrong_version", answer_of(result(), contractVersion=2))
_always("no_version", {"results": [result()]})
_always("wrong_type", answer_of(result(title=7)))
_always("missing_field", answer_of({"documentId": "a", "title": "t", "audience": "public"}))
_always("surplus", answer_of(*(result(n) for n in range(120))))
_always("internal", answer_of(result(1, audience="internal"), result(2)))
_always("mislabel", answer_of(result(1, audience="Public"), result(2, audience="everyone"), result(3, audience=None)))
_always("no_audience", answer_of({"documentId": "a", "title": "t", "snippet": "s"}, result(2)))
_always(
    "long_fields", answer_of(result(1, documentId="d" * 513), result(2, title="t" * 513), result(3, snippet="s" * 9000))
)
_always(
    "dangerous_links",
    answer_of(
        result(1, url="javascript:alert(1)"),
        result(2, url="https://user:pw@ok.test/"),
        result(3, url="https://169.254.169.254/latest"),
        result(4, url="https://help.fern-desk.com/a"),
    ),
)
_always(
    "markup",
    answer_of(result(title="Fern <img src=x onerror=alert(1)>", snippet="<b>x</b><script>1</script>")),
)
_always(
    "secrets_beside",
    answer_of(result(internal_note="n", source_path="/srv/kb/hr", meta={"owner_email": "e"}), debug={"q": 1}),
)


# --- refuses ---------------------------------------------------------------------------------------
def _status(name: str, status: str, *, headers: str = "") -> None:
    async def handler(seen: Seen, wire: Wire) -> bool:
        # Upstream words that must never travel on: the query itself among them.
        words = {"error": "UPSTREAM-WORDS", "query": seen.json.get("query")}
        await wire.answer_json(words, status=status, headers=headers)
        return True

    BEHAVIOURS[name] = handler


_status("unauthorized", "401 Unauthorized", headers="WWW-Authenticate: Bearer\r\n")
_status("forbidden", "403 Forbidden")
_status("not_found", "404 Not Found")
_status("rate_limited", "429 Too Many Requests", headers="Retry-After: 40\r\n")
_status("rate_limited_silently", "429 Too Many Requests")
_status("rate_limited_for_ever", "429 Too Many Requests", headers="Retry-After: 9999999999\r\n")
_status("unavailable", "503 Service Unavailable", headers="Retry-After: 30\r\n")
_status("error", "500 Internal Server Error")
_status("teapot", "418 I'm a teapot")


# --- the server ------------------------------------------------------------------------------------
@dataclass(slots=True)
class HostileProvider:
    """Runs on a thread of its own. `port` is free and chosen by the system."""

    scheme: str = "http"
    port: int = 0
    connections: int = 0
    open_connections: int = 0
    requests: list[Seen] = field(default_factory=list)
    behaviours: Mapping[str, Behaviour] = field(default_factory=lambda: BEHAVIOURS)
    early: frozenset[str] = frozenset()  # those that answer as soon as they have read the head of a request
    behaves: bool = False

    @contextlib.contextmanager
    def best_behaviour(self) -> Iterator[None]:
        """Deceives whoever tests it before using it."""
        self.behaves = True
        try:
            yield
        finally:
            self.behaves = False

    def url(self, name: str, *more: str, host: str = "127.0.0.1") -> str:
        """The base URL whose calls are answered by the behaviour `name`."""
        if name not in self.behaviours:
            raise KeyError(f"no behaviour {name!r}")
        return "/".join([f"{self.scheme}://{host}:{self.port}", name, *more])

    async def serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open_connections += 1
        number, nth = self.connections, 0
        try:
            while True:
                nth += 1
                seen = await read_head(reader, number, nth)
                if self.behaves or seen.behaviour not in self.early:
                    seen = await with_body(seen, reader)
                self.requests.append(seen)
                behave = good if self.behaves else self.behaviours[seen.behaviour]
                if not await behave(seen, Wire(reader, writer)):
                    return
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            return  # the other side left
        except asyncio.CancelledError:
            writer.transport.abort()  # the server is being stopped
        finally:
            self.open_connections -= 1
            writer.close()


async def read_request(reader: asyncio.StreamReader, connection: int, nth: int) -> Seen:
    return await with_body(await read_head(reader, connection, nth), reader)


async def read_head(reader: asyncio.StreamReader, connection: int, nth: int) -> Seen:
    """A request of which no more than the head has been read."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Seen(method, path, headers, b"", connection, nth)


async def with_body(seen: Seen, reader: asyncio.StreamReader) -> Seen:
    return replace(seen, body=await reader.readexactly(int(seen.headers.get("content-length", 0))))


@contextlib.contextmanager
def hostile_provider(
    *,
    tls: ssl.SSLContext | None = None,
    behaviours: Mapping[str, Behaviour] = BEHAVIOURS,
    early: frozenset[str] = frozenset(),
) -> Iterator[HostileProvider]:
    """Starts the server and stops it with everything that it still had to say."""
    provider = HostileProvider(scheme="https" if tls else "http", behaviours=behaviours, early=early)
    with serving(provider.serve_connection, tls=tls) as provider.port:
        yield provider


@contextlib.contextmanager
def serving(
    serve_connection: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    *,
    tls: ssl.SSLContext | None = None,
) -> Iterator[int]:
    """A server on a thread of its own and a free port of 127.0.0.1, which it gives."""
    loop = asyncio.new_event_loop()
    ready, stop = threading.Event(), asyncio.Event()
    ports: list[int] = []

    async def serve() -> None:
        server = await asyncio.start_server(serve_connection, "127.0.0.1", 0, ssl=tls)
        ports.append(server.sockets[0].getsockname()[1])
        ready.set()
        await stop.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0.01)

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), name="hostile-provider")
    thread.start()
    try:
        if not ready.wait(10):
            raise RuntimeError("the hostile provider did not start")
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()
