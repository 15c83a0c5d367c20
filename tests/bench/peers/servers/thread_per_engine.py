"""The layout of SearXNG: WSGI, a thread for each engine of each search, all of them awaited until a deadline.

It is the layout alone, not SearXNG's code: no templates, no plugins, no scoring of its own, no checks of the results.
Settings: granian, as in SearXNG's container, one worker with four threads for requests, no logs. One httpx client for
all threads keeps its connections, has no cap on them, and gives every provider TIMEOUT_S.
`python thread_per_engine.py PORT`; PEER_PROVIDERS is JSON, name -> base URL. Runs in the peers' environment.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import httpx
from granian import Granian
from granian.constants import Interfaces
from tether import leave_with_parent

TIMEOUT_S = float(os.environ["PEER_TIMEOUT_S"])
PROVIDERS = json.loads(os.environ["PEER_PROVIDERS"])
CLIENT = httpx.Client(
    timeout=TIMEOUT_S,
    limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
    trust_env=False,
)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    asked = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
    body = json.dumps(_search(asked)).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]


def _search(asked: dict[str, Any]) -> dict[str, Any]:
    until_s = time.monotonic() + TIMEOUT_S
    results: list[dict[str, Any]] = []
    heard: set[int] = set()
    lock = threading.Lock()

    def ask(place: int, name: str) -> None:
        body = {"query": asked["query"], "limit": 10, "locale": asked["locale"]}
        try:
            found = CLIENT.post(f"{PROVIDERS[name]}/retrieve", json=body).raise_for_status().json()["results"]
        except httpx.HTTPError:
            return
        with lock:
            results.extend(found)
            heard.add(place)

    engines = [threading.Thread(target=ask, args=pair, daemon=True) for pair in enumerate(asked["providers"])]
    for engine in engines:
        engine.start()
    for engine in engines:
        engine.join(max(0.0, until_s - time.monotonic()))
    with lock:
        failed = [name for place, name in enumerate(asked["providers"]) if place not in heard]
        merged = sorted(results, key=lambda result: -result["score"])
    return {"results": merged[: asked["limit"]], "asked": len(asked["providers"]), "failed": failed}


if __name__ == "__main__":
    leave_with_parent()
    Granian(
        "thread_per_engine:application",
        address="127.0.0.1",
        port=int(sys.argv[1]),
        interface=Interfaces.WSGI,
        workers=1,
        blocking_threads=4,
        log_enabled=False,
    ).serve()
