"""Each way to ask many sources: the server that does it, and how a search is asked of it.

All of them have one worker, the same providers under the same names, and give a provider the same time.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.local.functions import environments
from tests.bench.instances import LIMIT, QUERY, SEARCH
from tests.bench.world import Gateway

TIMEOUT_S = 1.0
ROOT = Path(__file__).resolve().parents[3]
_SERVERS = Path(__file__).resolve().parent / "servers"
_LOCK = ROOT / "requirements" / "peers.lock"
PYTHON = Path(sys.prefix) / "peers" / "bin" / "python"  # where the Makefile installs them
_INHERITED = ("PATH", "LANG", "LC_ALL", "TMPDIR")


@dataclass(frozen=True, slots=True)
class Post:
    path: str
    body: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """`posts` are the requests that a search of these providers takes, all sent at once; `heard` says of how many
    providers the answers have results. `about` is what its figures have to be read with.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    posts: Callable[[Sequence[str]], list[Post]]
    heard: Callable[[Sequence[Any]], int]
    token: str = ""
    packages: tuple[str, ...] = ()
    about: str = ""


def ours(gateway: Gateway) -> Contender:
    """What `make up` runs for a search: its front, and one process of the function."""
    client = {name: value for name, value in gateway.environment.items() if name.startswith(("AWS_", "NO_PROXY"))}
    function = environments(store=gateway.environment, client=client)["search"]
    function |= {"POWERTOOLS_LOG_LEVEL": "CRITICAL"}
    return Contender(
        name="ours",
        command=(sys.executable, "-m", "tests.bench.peers.ours"),
        environment=_inherited() | {"PEER_FUNCTION": json.dumps(function)},
        posts=lambda names: [Post(SEARCH, _search(names) | {"deadlineMs": int(TIMEOUT_S * 1000)})],
        heard=lambda answers: sum(each["resultCount"] > 0 for each in answers[0]["providers"]),
        token=gateway.agent,
    )


def peers(providers: Mapping[str, str]) -> list[Contender]:
    """`providers` are base URLs by name."""
    told = _inherited() | {"PEER_PROVIDERS": json.dumps(dict(providers)), "PEER_TIMEOUT_S": str(TIMEOUT_S)}
    key = f"sk-{secrets.token_hex(16)}"
    return [
        _gathering("FastAPI and gather", "fastapi_gather", told, packages=("fastapi", "httpx", "uvicorn")),
        _gathering("a thread per engine", "thread_per_engine", told, packages=("granian", "httpx")),
        Contender(
            name="LiteLLM's proxy",
            command=_server("litellm_search"),
            environment=told | {"LITELLM_MASTER_KEY": key},
            posts=lambda names: [Post(f"/search/{name}", {"query": QUERY, "max_results": 10}) for name in names],
            heard=lambda answers: sum(bool(answer.get("results")) for answer in answers),
            token=key,
            packages=("litellm",),
            about="; it takes a request for each provider",
        ),
    ]


def _gathering(name: str, server: str, told: Mapping[str, str], *, packages: tuple[str, ...]) -> Contender:
    return Contender(
        name=name,
        command=_server(server),
        environment=told,
        posts=lambda names: [Post("/search", _search(names))],
        heard=lambda answers: answers[0]["asked"] - len(answers[0]["failed"]),
        packages=packages,
    )


def _search(names: Sequence[str]) -> dict[str, object]:
    return {"query": QUERY, "locale": "en", "limit": LIMIT, "providers": list(names)}


def _server(name: str) -> tuple[str, ...]:
    return (str(PYTHON), str(_SERVERS / f"{name}.py"))


def _inherited() -> dict[str, str]:
    return {name: os.environ[name] for name in _INHERITED if name in os.environ}


def versions(packages: Sequence[str], *, lock: Path = _LOCK) -> str:
    """`fastapi 0.165.0, httpx 0.28.1`."""
    found = dict(re.findall(r"^([a-z0-9-]+)==([^ ;\\]+)", lock.read_text(encoding="utf-8"), re.MULTILINE))
    return ", ".join(f"{name} {found[name]}" for name in packages)
