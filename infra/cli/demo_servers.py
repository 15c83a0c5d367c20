"""The demo's self-hosted servers: local stand-ins of three products and of an external knowledge base, registered as an
operator would register real ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from infra.cli.http import Client, Declined
from infra.cli.seed import PROVIDERS, Seeded, SeedFailed

INSTANCES = "/api/v1/knowledge/instances"
_TAKEN = ("name_taken", "already_bound")
DEMO_FASTGPT_KEY = "fastgpt-harbourdemo0001"  # like the others, good for the stand-ins alone
_PRIORITY = 400  # their passages come after all others of the demo


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDemo:
    """One knowledge base on one server. `server` is the stand-in's name, `key` is good for it alone, `remote_id` is the
    knowledge base's id there. `customer_safe` states that the key reaches public content alone.
    """

    kind: str
    name: str
    server: str
    key: str
    remote_id: str
    query: str
    config: Mapping[str, object]
    exposure_profile: str = "agent_only"

    @property
    def credential(self) -> dict[str, object]:
        stated = {"credentialReachesPublicContentOnly": True} if self.exposure_profile == "customer_safe" else {}
        return {"credential": {"action": "replace", "value": self.key}, **stated}

    @property
    def is_alone(self) -> bool:
        """Whether it has no instance: its address is its own."""
        return self.kind == "dify_external"


SERVER_DEMOS = (
    ServerDemo(
        kind="dify",
        name="Dify",
        server="dify-1.14",
        key="dataset-public-harbour-0001",
        remote_id="18ae1f38-bd3d-40bd-a6bc-e4f4d3561abd",
        query="when does the north quay close",
        config={"retrievalModel": {"searchMethod": "semantic_search", "scoreThreshold": 0.35}},
        exposure_profile="customer_safe",
    ),
    ServerDemo(
        kind="fastgpt",
        name="FastGPT",
        server="fastgpt-4.12",
        key=DEMO_FASTGPT_KEY,
        remote_id="548183bc59bbf75a2f831bfa",
        query="season pass bicycles",
        config={"similarity": 0.35},
    ),
    ServerDemo(
        kind="ragflow",
        name="RAGFlow",
        server="ragflow-0.26",
        key="ragflow-harbourdemo0001",
        remote_id="0e61b046da1fd259d466af39d3883a05",
        query="lifeboat drill",
        config={"similarityThreshold": 0.3},
    ),
    ServerDemo(
        kind="dify_external",
        name="Galley",
        server="dify_external",
        key="external-harbour-demo-0001",
        remote_id="galley",
        query="fish soup",
        config={"knowledgeId": "galley", "scoreThreshold": 0.35},
    ),
)


def kept_ports(seeded: Seeded) -> Mapping[str, int]:
    """Where the servers were when they were registered: it is best that they are there again."""
    return {demo.server: seeded.ports[demo.server] for demo in SERVER_DEMOS if demo.server in seeded.ports}


def seed_servers(admin: Client, servers: Mapping[str, str], seeded: Seeded) -> None:
    """Registers what is not there yet, and points what moved to its new port. `servers` are the stand-ins' base URLs by
    name. Raises `SeedFailed`, `Declined`, `Unreachable`.
    """
    for demo in SERVER_DEMOS:
        url = servers[demo.server]
        port = urlsplit(url).port or 0
        if demo.kind not in seeded.ids:
            seeded.ids[demo.kind] = _registered(admin, demo, url, seeded)
        elif seeded.ports.get(demo.server) != port:
            _point(admin, demo, url, seeded)
        seeded.ports[demo.server] = port


def told(seeded: Seeded) -> dict[str, Any]:
    """What callers get to know, by kind."""
    return {demo.kind: dict(_told(demo, seeded)) for demo in SERVER_DEMOS}


def _told(demo: ServerDemo, seeded: Seeded) -> Iterator[tuple[str, str]]:
    yield "id", seeded.ids[demo.kind]
    yield "name", demo.name
    yield "exposureProfile", demo.exposure_profile
    yield "standIn", demo.server
    if not demo.is_alone:
        yield "instanceId", seeded.ids[demo.server]


def _registered(admin: Client, demo: ServerDemo, url: str, seeded: Seeded) -> str:
    if demo.is_alone:
        own = {"exposureProfile": demo.exposure_profile, "baseUrl": url, **demo.credential}
        return _made_provider(admin, demo, own, url)
    instance = {
        "name": demo.name,
        "kind": demo.kind,
        "exposureProfile": demo.exposure_profile,
        "baseUrl": url,
        **demo.credential,
    }
    if demo.server not in seeded.ids:
        made = _made(admin, INSTANCES, "instances", instance)
        seeded.ids[demo.server] = str(made["id"])
        if not made["baseUrl"].startswith(url):
            _point_instance(admin, demo, url, seeded.ids[demo.server])
    return _made_provider(admin, demo, {"instanceId": seeded.ids[demo.server], "remoteId": demo.remote_id}, url)


def _made_provider(admin: Client, demo: ServerDemo, own: Mapping[str, object], url: str) -> str:
    wanted = {
        "name": demo.name,
        "kind": demo.kind,
        "config": demo.config,
        "priority": _PRIORITY,
        "testQuery": demo.query,
        **own,
    }
    made = _made(admin, PROVIDERS, "providers", wanted)
    if made["status"] != "active" or not made["baseUrl"].startswith(url):
        _prove(admin, demo, url, str(made["id"]))
    return str(made["id"])


def _made(admin: Client, path: str, listed: str, wanted: Mapping[str, object]) -> dict[str, Any]:
    """Also one that an earlier start made and was killed before it could note it."""
    try:
        return admin.create(path, wanted).body
    except Declined as declined:
        if declined.code not in _TAKEN:
            raise
    found = admin.call("GET", f"{path}?limit=100").body[listed]
    same = [each for each in found if all(each[field] == wanted[field] for field in ("name", "kind"))]
    if not same:
        raise SeedFailed(f"Something else is called {wanted['name']}.")
    made: dict[str, Any] = same[0]
    return made


def _point(admin: Client, demo: ServerDemo, url: str, seeded: Seeded) -> None:
    if not demo.is_alone:
        _point_instance(admin, demo, url, seeded.ids[demo.server])
    _prove(admin, demo, url, seeded.ids[demo.kind])


def _point_instance(admin: Client, demo: ServerDemo, url: str, instance_id: str) -> None:
    """A key goes nowhere that it was not given for, so it is given again."""
    _change(admin, f"{INSTANCES}/{instance_id}", {"baseUrl": url, **demo.credential})


def _prove(admin: Client, demo: ServerDemo, url: str, provider_id: str) -> None:
    """Switched on by a test, as everything is whose address has changed."""
    path = f"{PROVIDERS}/{provider_id}"
    if demo.is_alone:
        _change(admin, path, {"baseUrl": url, **demo.credential, "testQuery": demo.query})
        return
    try:
        report = admin.patiently(f"{path}/test", {"query": demo.query, "activate": True}).body
    except Declined as declined:
        if declined.status != 404:
            raise
        return
    if report["status"] == "failed":
        raise SeedFailed(f"{demo.name} did not pass its test: {report['errorCode']}.")


def _change(admin: Client, path: str, changes: Mapping[str, object]) -> None:
    """What an operator has removed stays removed."""
    try:
        present = admin.call("GET", path)
    except Declined as declined:
        if declined.status != 404:
            raise
        return
    admin.call("PATCH", path, changes, If_Match=present.etag or "")
