"""Registers the demo through the public admin API, as an operator would: nothing here knows the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from infra.cli.demo_providers import DemoProvider
from infra.cli.http import Client, Declined
from infra.cli.state import read_json, write_private

ORIGIN = "https://www.lumsund.example"
PROVIDERS = "/api/v1/knowledge/providers"
_CREDENTIALS = "/api/v1/credentials"
_WIDGET = "widget"
_WEBSITE = "website"
_CALLERS: Mapping[str, Mapping[str, object]] = {
    "agent": {"class": "agt", "name": "Demo agent"},
    "assistant": {"class": "ast", "name": "Demo assistant", "grants": ["knowledge:read_public"]},
    "widget": {"class": "pub", "name": "Demo widget"},
}


class SeedFailed(Exception):
    """The demo could not be registered."""


@dataclass
class Seeded:
    """What was made: kept beside the store, so that a later run finds it again. Tokens are shown only once. `inactive`
    says why the test of a live provider failed, by kind.
    """

    tokens: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    collections: dict[str, str] = field(default_factory=dict)
    inactive: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Seeded:
        kept = read_json(path) or {}
        return cls(**{name: dict(kept.get(name, {})) for name in ("tokens", "ids", "ports", "collections", "inactive")})

    def write(self, path: Path) -> None:
        write_private(path, asdict(self))


def seed(admin: Client, providers: Mapping[str, DemoProvider], seeded: Seeded, *, website_port: int = 0) -> None:
    """Brings `seeded` up to date: registers what is not there yet, points what moved to its new port. Without a
    `website_port` the widget's key lists the origin of a website that is nowhere, alone.

    Raises `SeedFailed`, `Declined`, `Unreachable`.
    """
    for key, provider in providers.items():
        if key not in seeded.ids:
            seeded.ids[key] = _register(admin, provider)
        elif seeded.ports.get(key) != provider.port:
            _point(admin, seeded.ids[key], provider)
        seeded.ports[key] = provider.port
    own = [_website_at(website_port)] if website_port else []
    for name, wanted in _CALLERS.items():
        if name not in seeded.tokens:
            origins = {"origins": [ORIGIN, *own]} if name == _WIDGET else {}
            seeded.tokens[name] = _issue(admin, {**wanted, **origins})
        elif name == _WIDGET and seeded.ports.get(_WEBSITE, 0) != website_port:
            _let_in(admin, seeded, own)
    seeded.ports[_WEBSITE] = website_port


def _website_at(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def _let_in(admin: Client, seeded: Seeded, own: list[str]) -> None:
    """The website has moved: the widget's key lists its new origin in place of the old one, and what else it lists."""
    path = f"{_CREDENTIALS}/{seeded.tokens[_WIDGET].split('_')[2]}"
    try:
        present = admin.call("GET", path)
    except Declined as declined:
        if declined.status == 404:  # an operator has removed it, and it stays removed
            return
        raise
    gone = {*own, _website_at(seeded.ports.get(_WEBSITE, 0))}
    origins = [*(one for one in present.body["origins"] if one not in gone), *own]
    admin.call("PATCH", path, {"origins": origins}, If_Match=present.etag or "")


def _issue(admin: Client, wanted: Mapping[str, object]) -> str:
    made = admin.create(_CREDENTIALS, wanted).body
    return str(made["token"] or admin.patiently(f"{_CREDENTIALS}/{made['id']}/rotate", {}).body["token"])


def _register(admin: Client, provider: DemoProvider) -> str:
    demo = provider.demo
    wanted = {
        "name": demo.name,
        "exposureProfile": demo.exposure_profile,
        "baseUrl": provider.url,
        "priority": demo.priority,
    }
    made = made_provider(admin, wanted)
    path = f"{PROVIDERS}/{made['id']}"
    # A secret is shown once; where that answer was lost, a new one is made.
    provider.keep_secret(str(made.get("secret") or _new_secret(admin, path)))
    if made["baseUrl"] != provider.url:
        _point(admin, str(made["id"]), provider)
    else:
        admin.patiently(path + "/capabilities", {})
        _activate(admin, path, provider)
    return str(made["id"])


def made_provider(admin: Client, wanted: Mapping[str, object]) -> dict[str, Any]:
    """The provider; also one that an earlier start made and was killed before it could note it."""
    try:
        return admin.create(PROVIDERS, wanted).body
    except Declined as declined:
        if declined.code != "name_taken":
            raise
    listed = admin.call("GET", PROVIDERS + "?limit=100").body["providers"]
    same = [each for each in listed if all(each[field] == wanted[field] for field in ("name", "exposureProfile"))]
    if not same:
        raise SeedFailed(f"Another provider is called {wanted['name']}.")
    found: dict[str, Any] = same[0]
    return found


def _new_secret(admin: Client, path: str) -> str:
    return str(admin.patiently(path + "/rotate-secret", {"windowHours": 0, "replacePending": True}).body["secret"])


def _point(admin: Client, provider_id: str, provider: DemoProvider) -> None:
    path = f"{PROVIDERS}/{provider_id}"
    try:
        present = admin.call("GET", path)
    except Declined as declined:
        if declined.status == 404:  # an operator has removed it, and it stays removed
            return
        raise
    admin.call("PATCH", path, {"baseUrl": provider.url}, If_Match=present.etag or "")
    _activate(admin, path, provider)


def _activate(admin: Client, path: str, provider: DemoProvider) -> None:
    report: dict[str, Any] = admin.patiently(path + "/test", {"query": provider.demo.query, "activate": True}).body
    if report["status"] != "success":
        raise SeedFailed(f"The demo provider {provider.demo.name} did not pass its test: {report['errorCode']}.")
