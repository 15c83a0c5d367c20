"""Functions as they are deployed, each in a process of its own, before services that say too much: what they are asked,
what they answer, and all that they say and leave besides.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3

from shared import measures
from shared.domain.exposure import CredentialClass
from shared.domain.key_pools import fingerprint_of_key
from shared.domain.outcomes import OutcomeCode
from shared.domain.pools import Pool
from shared.observability import CIRCUITS_UNKNOWN, CIRCUITS_UNWRITTEN
from tests.contract.worlds import StoreWorld
from tests.support.admin_stage import PROVIDERS, Answered, event_of
from tests.support.builders import a_change, a_credential, a_token
from tests.support.indiscreet_services import Services, indiscreet_services
from tests.support.telltale import ACCOUNT, KEY, LISTED, PRODUCT, QUERY, URL

SEARCH = "/api/v1/knowledge/search"
ACQUIRE = "/api/v1/knowledge/acquire"
POOLS = "/api/v1/knowledge/pools"
NAMES = {Pool.CONTEXT7: "CONTEXT7_API_KEY", Pool.EXA: "EXA_API_KEY", Pool.FIRECRAWL: "FIRECRAWL_API_KEY"}
KEYS = {
    pool: {
        name: {"key": f"{KEY}-{pool}-first", "account": f"{ACCOUNT}-one"},
        f"{name}_1": {"key": f"{KEY}-{pool}-second", "account": f"{ACCOUNT}-two"},
        f"{name}_2": f"{KEY}\n{pool}",
    }
    for pool, name in NAMES.items()
}
FINGERPRINTS = {fingerprint_of_key(pool, f"{KEY}-{pool}-{which}") for pool in NAMES for which in ("first", "second")}
QUESTION = {"query": f"how are fares refunded {QUERY}", "product": PRODUCT, "repository": f"{LISTED}/widgets"}
# Every name in a line of numbers: the metrics, what they are counted by, and the ids of the request.
NUMBERED = frozenset(
    {"_aws", "Lane", "Kind", "Status", "request_id", "gateway_request_id", "function_request_id"}
    | {measures.SEARCHES, measures.SEARCH_DURATION, measures.PARTIAL_ANSWERS, measures.FAILED_ANSWERS}
    | {measures.ZERO_RESULTS, measures.PROVIDER_OUTCOMES, measures.PROVIDER_DURATION}
)
WANTED = f"https://docs.example.com/{URL}/page"


class Process:
    """A function, and all that it says: on its standard output, beside it, and of its errors."""

    def __init__(self, name: str, environment: Mapping[str, str], *, at: Path, leak: str | None = None) -> None:
        reading, writing = os.pipe()
        self._at = at / name
        self._said = [self._at.with_suffix(suffix) for suffix in (".log", ".err")]
        with ExitStack() as files:
            out, err = (files.enter_context(path.open("wb")) for path in self._said)
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "tests.contract.function_process",
                    name,
                    str(writing),
                    *([leak] if leak else []),
                ],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                pass_fds=(writing,),
                env={**os.environ, **environment},
                text=True,
            )
        os.close(writing)
        self._answers = os.fdopen(reading, encoding="utf-8")
        self.errors: list[str] = []

    def send(self, event: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(event) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Answered:
        response = json.loads(self._answers.readline() or self.said_beside)
        return Answered(response["statusCode"], response["headers"], response.get("body") or "")

    def end(self) -> None:
        """It ends by itself, since nothing more comes in."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self.errors = json.loads(self._answers.readline() or "[]")
        self._answers.close()
        assert self._process.wait(timeout=20) == 0, self.said_beside

    @property
    def log(self) -> str:
        return self._said[0].read_text()

    @property
    def said_beside(self) -> str:
        return self._said[1].read_text()


@dataclass
class Told:
    """What processes said, and to whom. `answers` are (path, answer); `rows` are all that they left, by table."""

    functions: dict[str, Process]
    services: Services
    answers: list[tuple[str, Answered]] = field(default_factory=list)
    rows: dict[str, list[str]] = field(default_factory=dict)

    @property
    def logs(self) -> list[str]:
        """All lines, events and numbers alike."""
        return [line for process in self.functions.values() for line in process.log.splitlines()]

    @property
    def events(self) -> list[dict[str, Any]]:
        return [line for line in map(json.loads, self.logs) if "_aws" not in line]

    @property
    def numbers(self) -> list[dict[str, Any]]:
        """The lines that the log service makes metrics of."""
        return [line for line in map(json.loads, self.logs) if "_aws" in line]

    def faults(self) -> list[dict[str, Any]]:
        """But for circuits that a busy machine was too slow to read or to write: that is never waited for."""
        slow = {CIRCUITS_UNKNOWN, CIRCUITS_UNWRITTEN}
        return [line for line in self.events if "fault" in line and line["message"] not in slow]

    @property
    def errors(self) -> list[str]:
        return [text for process in self.functions.values() for text in process.errors]

    def codes(self) -> set[str]:
        """Outcome and problem codes that callers were told."""
        return {word for code in OutcomeCode for word in [str(code)] for _, a in self.answers if f'"{word}"' in a.text}


class Gateway:
    """Calls functions with the tokens that they want, or with the one that is given."""

    def __init__(self, told: Told, *, agent: str, admin: str) -> None:
        self.told = told
        self._agent = agent
        self._admin = admin
        self._written: dict[str, str] = {}  # the entity tags of what it has put back

    def start(
        self, function: str, path: str, body: object, *, method: str = "POST", token: str = "", **headers: str
    ) -> None:
        event = event_of("acquire")
        token = token or (self._admin if function == "admin" else self._agent)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        event["headers"] |= {"authorization": f"Bearer {token}", **named}
        event["rawPath"] = path
        event["requestContext"]["http"] |= {"method": method, "path": path}
        event["body"] = None if body is None else json.dumps(body)
        self.told.functions[function].send(event)

    def finish(self, function: str, path: str) -> Answered:
        answered = self.told.functions[function].answer()
        self.told.answers.append((path, answered))
        return answered

    def call(self, function: str, path: str, body: object = None, **how: str) -> Answered:
        self.start(function, path, body, **how)
        return self.finish(function, path)

    def search(self, **over: Any) -> Answered:
        return self.call("search", SEARCH, QUESTION | over)

    def acquire(self, **over: Any) -> Answered:
        return self.call("live", ACQUIRE, {"url": WANTED} | over)

    def put_back(self, provider_id: str, *, priority: int) -> None:
        """As an operator who has mended it: whatever its circuits hold against it counts for nothing from now on. A
        `priority` that it has not yet makes sure that there is something to write.
        """
        path = f"{PROVIDERS}/{provider_id}"
        written = self._written.get(path) or self.call("admin", path, method="GET").etag
        wanted = {"status": "active", "priority": priority}
        changed = self.call("admin", path, wanted, method="PATCH", if_match=written)
        assert changed.json.get("status") == "active", changed.text
        self._written[path] = changed.etag

    def wake(self) -> None:
        for pool in Pool:
            assert self.call("admin", f"{POOLS}/{pool}/wake", {}).status == 200


def fill_pools(environment: Mapping[str, str], keys: Mapping[Pool, object] = KEYS) -> None:
    secrets_manager = boto3.client("secretsmanager")
    for pool, entries in keys.items():
        secrets_manager.put_secret_value(
            SecretId=environment[f"KG_POOL_{pool.upper()}"], SecretString=json.dumps(entries)
        )


def rows_of(environment: Mapping[str, str]) -> dict[str, list[str]]:
    """Every row of every table as text, by table."""
    pages = boto3.client("dynamodb").get_paginator("scan")
    tables = [name for variable, name in environment.items() if variable.startswith("KG_TABLE_")]
    return {table: [repr(row) for page in pages.paginate(TableName=table) for row in page["Items"]] for table in tables}


@contextmanager
def running(
    environment: Mapping[str, str], *functions: str, at: Path, leak: str | None = None
) -> Iterator[tuple[Told, Services]]:
    """Before the hosted services. In the end every process has ended and the rows are read."""
    with (
        indiscreet_services() as services,
        running_before(
            services, {**environment, "KG_LOCAL_ORIGINS": json.dumps(services.origins)}, *functions, at=at, leak=leak
        ) as told,
    ):
        yield told, services


@contextmanager
def running_before(
    services: Services, environment: Mapping[str, str], *functions: str, at: Path, leak: str | None = None
) -> Iterator[Told]:
    settings = {"KG_ALLOW_LOOPBACK_HTTP": "true", "POWERTOOLS_LOG_LEVEL": "DEBUG"}
    started = {name: Process(name, {**environment, **settings}, at=at, leak=leak) for name in functions}
    told = Told(started, services)
    try:
        yield told
    finally:
        services.is_over.set()
        for process in started.values():
            process.end()
    told.rows = rows_of(environment)


def a_caller(store: StoreWorld, class_: CredentialClass = CredentialClass.AGENT, **over: Any) -> str:
    credential = a_credential(credential_class=class_, rate_per_minute=100_000, **over)
    asyncio.run(store.credential_store().create(credential, a_change()))
    return a_token(credential)
