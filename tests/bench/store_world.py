"""A gateway whose calls of the store are counted: the functions as processes before a counting proxy, and what an
operator has registered through the admin function.
"""

from __future__ import annotations

import json
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypedDict

import boto3

from infra.local.root_token import read_root_token
from tests.bench.counted_function import Answered, Function, a_function
from tests.bench.counting_proxy import CountingProxy, counting_proxy
from tests.bench.sources import Sources, sources
from tests.support.emulator import emulator, provisioned

ORIGIN: Final = "https://www.ferry-line.example"
PAGE: Final = "https://docs.example.com/fares"
COLLECTIONS: Final = "/api/v1/collections"
CREDENTIALS: Final = "/api/v1/credentials"
PROVIDERS: Final = "/api/v1/knowledge/providers"
_UNLIMITED = 10_000  # the most that an address may have


def an_event(
    path: str, body: object = None, *, token: str = "", method: str = "POST", **headers: str
) -> dict[str, Any]:
    """As the HTTP API sends it. A text is sent as it is, anything else as JSON."""
    text = body if isinstance(body, str) or body is None else json.dumps(body)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    http = {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7", "userAgent": "bench/1"}
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"authorization": f"Bearer {token}", "content-type": "application/json", **named},
        "requestContext": {"http": http, "requestId": secrets.token_hex(8), "stage": "$default"},
        "body": text,
        "isBase64Encoded": False,
    }


@dataclass
class StoreWorld:
    """`providers` are customer_safe ones of the contract, in the order of their registration; `live` is of Exa."""

    environment: dict[str, str]
    proxy: CountingProxy
    sources: Sources
    directory: Path
    root: str
    admin: Function
    tokens: dict[str, str] = field(default_factory=dict)
    providers: list[str] = field(default_factory=list)
    collection: str = ""

    def started(self, name: str) -> AbstractContextManager[Function]:
        """A process of the function that has not been asked anything."""
        return a_function(name, self.proxy.before(self.environment), at=self.directory)

    def administer(self, path: str, body: object, *, method: str = "POST", **headers: str) -> Answered:
        answered = self.admin.call(an_event(path, body, token=self.root, method=method, **headers))
        assert answered.answer["statusCode"] in (200, 201), answered.answer
        return answered

    def register(self, wanted: Mapping[str, object], *, test: Mapping[str, object]) -> str:
        """Registered, tested and active."""
        made = self.administer(PROVIDERS, wanted).document
        tested = self.administer(f"{PROVIDERS}/{made['id']}/test", {**test, "activate": True}).document
        assert tested["status"] == "success", tested
        return str(made["id"])

    def register_contract(self, count: int) -> None:
        for number in range(len(self.providers), count):
            wanted = {"name": f"Help {number}", "exposureProfile": "customer_safe", "baseUrl": self.sources.url}
            self.providers.append(self.register(wanted, test={"query": "booking"}))

    def register_exa(self) -> None:
        config = {"approvedHosts": ["docs.example.com"]}
        wanted = {"name": "Exa", "exposureProfile": "agent_only", "kind": "exa", "config": config}
        self.register(wanted, test={"query": "booking"})

    def keep_keys(self, keys: Mapping[str, str]) -> None:
        secret_id = self.environment["KG_POOL_EXA"]
        place = self.environment["AWS_ENDPOINT_URL"]
        client = boto3.client("secretsmanager", endpoint_url=place, region_name="us-east-1", **_ACCESS)
        client.put_secret_value(SecretId=secret_id, SecretString=json.dumps(keys))

    def import_cards(self, cards: Sequence[Mapping[str, object]]) -> None:
        made = self.administer(COLLECTIONS, {"name": "Words", "exposureProfile": "customer_safe"}).document
        self.collection = str(made["id"])
        rows = "\n".join(map(json.dumps, cards))
        self.administer(f"{COLLECTIONS}/{self.collection}/cards/import", rows, content_type="application/x-ndjson")

    def issue(self, name: str, **wanted: object) -> None:
        made = self.administer(CREDENTIALS, {"name": name, "ratePerMinute": _UNLIMITED, **wanted}).document
        self.tokens[name] = str(made["token"])


class _Access(TypedDict):
    aws_access_key_id: str
    aws_secret_access_key: str


_ACCESS: Final[_Access] = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}


@contextmanager
def a_store_world() -> Iterator[StoreWorld]:
    """Empty but for the callers' credentials."""
    with (
        emulator() as endpoint,
        counting_proxy(endpoint) as proxy,
        sources() as asked,
        tempfile.TemporaryDirectory() as directory,
    ):
        environment = provisioned(endpoint, prefix="count") | {
            "KG_ALLOW_LOOPBACK_HTTP": "true",
            "KG_LOCAL_ORIGINS": json.dumps({"exa": asked.url}),
            "KG_PROBE_EVERY_S": "1",
            "POWERTOOLS_LOG_LEVEL": "INFO",  # as it is deployed: the other groups silence this process and its children
        }
        root = read_root_token(endpoint, secret_id=environment["KG_ROOT_SECRET"])
        with a_function("admin", proxy.before(environment), at=Path(directory)) as admin:
            world = StoreWorld(environment, proxy, asked, Path(directory), root, admin)
            world.issue("agent", **{"class": "agt"})
            world.issue("assistant", **{"class": "ast"}, grants=["knowledge:read_public"])
            world.issue("widget", **{"class": "pub"}, origins=[ORIGIN], addressRatePerMinute=_UNLIMITED)
            yield world
