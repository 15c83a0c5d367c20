"""The five hosted services on loopback, as indiscreet as they can be: whatever they answer says more than it should,
refusals repeat what was asked and with which key, and headers and reason phrases talk as well.

    with indiscreet_services() as services:
        services.origins              # kind -> origin
        services.mode = "rate"        # how all of them answer from now on; see `MODES`
        services.heard                # kind -> everything that arrived, as text
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from tests.support.telltale import HIDDEN, SHOWN, TOOL

KINDS: Final = ("context7", "deepwiki", "exa", "firecrawl", "mintlify")
APPROVED: Final = "https://docs.example.com"
STRANGER: Final = f"https://{HIDDEN}.example.org/page"
FIRST_KEY: Final = "first"  # refused while the mode is `failover`
STATUSES: Final = {
    "quota": 402,
    "rate": 429,
    "unauthorized": 401,
    "forbidden": 403,
    "proxy": 407,
    "timeout": 408,
    "conflict": 409,
    "broken": 500,
    "unavailable": 503,
}
MODES: Final = ("ok", "failover", *STATUSES, "page", "no_json", "redirect", "cut", "talkative", "renamed", "session")
_PAGE: Final = f"<!doctype html><title>{HIDDEN}</title><p>{HIDDEN} {{}}".encode()

CHALLENGES: Final = {
    "Retry-After": "600",
    "WWW-Authenticate": f'Bearer realm="{HIDDEN}"',
    "Proxy-Authenticate": f'Basic realm="{HIDDEN}"',
    "RateLimit-Policy": HIDDEN,
}

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    kind: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return f"{self.path} {self.headers} {self.body.decode()}"

    @property
    def json(self) -> Json:
        found: Json = json.loads(self.body or b"{}")
        return found

    @property
    def is_mcp(self) -> bool:
        return self.kind in ("deepwiki", "mintlify")


@dataclass(frozen=True, slots=True)
class Said:
    status: int
    body: bytes
    media_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Services:
    """`is_over` ends whatever still hangs."""

    origins: dict[str, str] = field(default_factory=dict)
    mode: str = "ok"
    heard: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    is_over: threading.Event = field(default_factory=threading.Event)

    def answer(self, asked: Asked) -> Said | None:
        """None: nothing comes."""
        self.heard[asked.kind].append(asked.text)
        mode = self.mode
        if mode == "hang":
            self.is_over.wait(30)
            return None
        if mode == "failover":
            mode = "quota" if FIRST_KEY in asked.text else "ok"
        if mode in STATUSES:
            return self.refusal(asked, STATUSES[mode])
        if mode == "page":
            return Said(200, _PAGE.replace(b"{}", asked.text.encode()), "text/html")
        if mode == "no_json":
            return Said(200, f'{{"{HIDDEN}": "{asked.path}'.encode())
        if mode == "redirect":
            return Said(302, _PAGE, "text/html", {"Location": f"{STRANGER}?{HIDDEN}"})
        return self.in_its_own_way(asked, mode)

    def refusal(self, asked: Asked, status: int) -> Said:
        return _refusal(asked, status)

    def in_its_own_way(self, asked: Asked, mode: str) -> Said:
        return _mcp(asked, mode) if asked.is_mcp else _ANSWERS[asked.kind](asked, mode)


def _refusal(asked: Asked, status: int) -> Said:
    """Says what was asked, and with which key."""
    words = f"{HIDDEN}: {asked.text}"
    error: Any = {"code": -32000, "message": words, "data": {"why": words}} if asked.is_mcp else words
    body = {"jsonrpc": "2.0", "id": None} if asked.is_mcp else {"success": False, "message": words, "detail": [words]}
    return Said(status, json.dumps({**body, "error": error}).encode(), headers=CHALLENGES)


def said(document: Json, **headers: str) -> Said:
    return Said(200, json.dumps(document).encode(), headers=headers)


# --- the services ---------------------------------------------------------------------------------


def _context7(asked: Asked, mode: str) -> Said:
    if mode == "talkative":
        return said({"error": HIDDEN, "message": f"{HIDDEN} {asked.text}"})
    if "/libs/search" in asked.path:
        library = {"id": f"/{SHOWN}/widgets", "title": SHOWN, "state": "finalized", "description": HIDDEN}
        return said({"results": [library], "searchFilterApplied": HIDDEN})
    page = {"pageId": f"{APPROVED}/{SHOWN}", "breadcrumb": f"{HIDDEN} > {SHOWN}", "content": HIDDEN}
    code = {"codeId": f"{APPROVED}/{SHOWN}/code", "pageTitle": SHOWN, "codeTitle": HIDDEN, "codeList": [HIDDEN]}
    return said({"infoSnippets": [page, {"pageId": STRANGER}], "codeSnippets": [code], "rules": HIDDEN})


def _exa(asked: Asked, mode: str) -> Said:
    if mode == "talkative":
        failed = {"id": _wanted_of(asked), "status": "error", "error": {"tag": HIDDEN, "message": asked.text}}
        return said({"results": HIDDEN if "/search" in asked.path else [], "statuses": [failed], "error": HIDDEN})
    generated = {"summary": HIDDEN, "highlights": [HIDDEN], "author": HIDDEN, "image": STRANGER}
    if "/contents" in asked.path:
        url = _wanted_of(asked)
        result = {"id": url, "url": url, "title": SHOWN, "text": SHOWN, **generated}
        return said({"results": [result], "statuses": [{"id": url, "status": "success", "source": HIDDEN}]})
    result = {"url": f"{APPROVED}/{SHOWN}", "title": SHOWN, "text": SHOWN, "score": 0.5, **generated}
    stranger = {"url": STRANGER, "title": HIDDEN, "text": HIDDEN}
    return said({"results": [result, stranger], "requestId": HIDDEN, "costDollars": {"total": HIDDEN}})


def _wanted_of(asked: Asked) -> str:
    urls = asked.json.get("urls") or [""]
    return str(urls[0])


def _firecrawl(asked: Asked, mode: str) -> Said:
    if "alexandria" in asked.json:
        return _alexandria(asked, mode)
    if asked.path.endswith("/search"):
        tools: Any = HIDDEN if mode == "talkative" else [_tool()]
        return said({"success": True, "warning": HIDDEN, "data": {"tools": tools}, "id": HIDDEN})
    if mode == "talkative":
        return said({"success": False, "code": HIDDEN, "error": f"{HIDDEN} {asked.text}"})
    url = asked.json["url"]
    metadata = {"sourceURL": url, "url": url, "statusCode": 200, "title": SHOWN, "contentType": "text/html"}
    data = {"markdown": SHOWN, "html": HIDDEN, "summary": HIDDEN, "metadata": {**metadata, "scrapeId": HIDDEN}}
    return said({"success": True, "data": data, "warning": HIDDEN})


def _tool() -> Json:
    option = {"name": "series", "type": "string", "about": SHOWN, "required": True, "default": SHOWN}
    named = {"provider": TOOL, "capability": f"{TOOL}/rows", "id": TOOL, "name": SHOWN, "description": SHOWN}
    return {**named, "creditsCost": 3, "perRecord": False, "options": [option], "contact": HIDDEN}


def _alexandria(asked: Asked, mode: str) -> Said:
    call = asked.json["alexandria"]
    named = {"provider": call["provider"], "capability": call["capability"], "alexandriaId": HIDDEN}
    if call["provider"] == "firecrawl":
        item = {**named, "creditsCost": 0, "data": {"items": [_tool()], "next": HIDDEN}}
    elif mode == "talkative":
        item = {**named, "error": {"code": HIDDEN, "message": f"{HIDDEN} {asked.text}", "status": 400}}
    else:
        item = {**named, "creditsCost": 3, "data": {"rows": [SHOWN]}}
    cost = item.get("creditsCost", 0)
    return said({"success": True, "scrape_id": HIDDEN, "data": {"alexandria": [item], "creditsCost": cost}})


_ANSWERS: Final[dict[str, Callable[[Asked, str], Said]]] = {
    "context7": _context7,
    "exa": _exa,
    "firecrawl": _firecrawl,
}


def _mcp(asked: Asked, mode: str) -> Said:
    message, has_session = asked.json, "mcp-session-id" in asked.headers
    method, number = message["method"], message.get("id")
    if mode == "session" and method == "initialize":
        result: Json = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": HIDDEN}}
        return _told(number, {"result": {**result, "instructions": HIDDEN}}, **{"Mcp-Session-Id": f"{HIDDEN}-7f"})
    if method.startswith("notifications/"):
        return Said(202, b"")
    if mode == "session" and not has_session:
        return Said(400, json.dumps({"error": f"{HIDDEN}: no session for {asked.text}"}).encode())
    if mode == "talkative":
        error = {"code": -32000, "message": f"{HIDDEN} {asked.text}", "data": HIDDEN}
        return _told(number, {"error": error})
    if method == "tools/list":
        return _told(number, {"result": {"tools": [{"name": HIDDEN, "description": HIDDEN, "inputSchema": {}}]}})
    if mode == "renamed":
        text = f"Unknown tool: {HIDDEN} {asked.text}"
        return _told(number, {"result": {"content": [{"type": "text", "text": text}], "isError": True}})
    return _told(number, {"result": {"content": [{"type": "text", "text": _CONTEXT}], "_meta": HIDDEN}})


_CONTEXT: Final = (
    f"### {SHOWN}\nSource: {APPROVED}/{SHOWN}\n\n{SHOWN}\n\n----------------\n"
    f"### {SHOWN}\nSource: {STRANGER.replace(HIDDEN, SHOWN)}\n\n{SHOWN}\n"
)


def _told(number: int | None, outcome: Json, **headers: str) -> Said:
    """As a stream that says more than it was asked."""
    log = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": HIDDEN}}
    messages = [log, {"jsonrpc": "2.0", "id": number, **outcome}]
    stream = f": {HIDDEN}\n\nevent: {HIDDEN}\nid: {HIDDEN}\n" + "".join(f"data: {json.dumps(m)}\n\n" for m in messages)
    return Said(200, stream.encode(), "text/event-stream", headers)


# --- the wire -------------------------------------------------------------------------------------


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    services: Services
    kind: str

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.services.answer(Asked(self.kind, self.path, headers, body))
        if answer is None:
            self.close_connection = True
            return
        self.send_response(answer.status, f"{HIDDEN} reason")
        told = {"X-Request-Id": HIDDEN, f"X-{HIDDEN}": HIDDEN, "Set-Cookie": f"{HIDDEN}=1", "Server-Timing": HIDDEN}
        length = {"Content-Type": answer.media_type, "Content-Length": str(len(answer.body))}
        for name, value in {**told, **answer.headers, **length}.items():
            self.send_header(name, value)
        self.end_headers()
        is_cut = self.services.mode == "cut"
        with contextlib.suppress(OSError):  # the other side may be gone by then
            self.wfile.write(answer.body[: len(answer.body) // 2] if is_cut else answer.body)
        self.close_connection = self.close_connection or is_cut

    do_GET = do_POST

    def log_message(self, *args: Any) -> None:
        """Says nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that is cut is no news here."""


@contextlib.contextmanager
def indiscreet_services() -> Iterator[Services]:
    services = Services()
    with on_loopback(services, KINDS):
        yield services


@contextlib.contextmanager
def on_loopback(services: Services, kinds: Iterable[str]) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for kind in kinds:
            handler = type("Handler", (_Handler,), {"services": services, "kind": kind})
            server = _Server(("127.0.0.1", 0), handler)
            services.origins[kind] = f"http://127.0.0.1:{server.server_port}"
            thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
            thread.start()
            stack.callback(server.server_close)
            stack.callback(thread.join)
            stack.callback(server.shutdown)
        stack.callback(services.is_over.set)
        yield
