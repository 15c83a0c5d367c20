"""The demo's live services: local stand-ins of five hosted ones, with keys of their own, registered like real ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from infra.cli.demo_providers import ProviderFailed
from infra.cli.http import Client, Declined
from infra.cli.pool_secrets import PoolSecretStore
from infra.cli.seed import PROVIDERS, Seeded, made_provider
from infra.cli.tethered import Tethered
from shared.domain.pools import Pool

DOCUMENTS = "docs.harbour.test"
HANDBOOK = "handbook.harbour.test"
_HOSTS = [DOCUMENTS, HANDBOOK]
_GONE = 404

# Good for the stand-ins alone.
DEMO_KEYS: Mapping[Pool, Mapping[str, object]] = {
    Pool.CONTEXT7: {f"CONTEXT7_API_KEY_{n}": f"ctx7sk-demo-000{n}" for n in (1, 2)},
    Pool.EXA: {f"EXA_API_KEY_{n}": f"exa-demo-000{n}" for n in (1, 2, 3)},
    Pool.FIRECRAWL: {f"FIRECRAWL_API_KEY_{n}": f"fc-demo-000{n}" for n in (1, 2)},
}


@dataclass(frozen=True, slots=True)
class LiveDemo:
    """One live provider: its kind, how it is registered, and what it is tested with. Its passages come after those of
    the demo's own providers.
    """

    kind: str
    name: str
    config: Mapping[str, object]
    test: Mapping[str, object] = field(default_factory=lambda: {"query": "open a gate"})
    priority: int = 300


LIVE_DEMOS = (
    LiveDemo("context7", "Context7", {"approvedHosts": _HOSTS, "library": "/harbour/gangway"}),
    LiveDemo("exa", "Exa", {"approvedHosts": _HOSTS}),
    LiveDemo("mintlify", "Mintlify Index", {"approvedHosts": _HOSTS}),
    LiveDemo("deepwiki", "DeepWiki", {"repositories": ["harbour/gangway"]}),
    # Asked first for a source, before Exa.
    LiveDemo(
        "firecrawl",
        "Firecrawl",
        {"approvedHosts": _HOSTS},
        test={"url": f"https://{DOCUMENTS}/gangway/boarding"},
        priority=200,
    ),
)


class StandIns:
    """The process of the stand-ins, which begins to start. Whoever asks where they are waits until it has said so, and
    may get `ProviderFailed`. `ports` are those of servers in an earlier run, used again where they are free.
    """

    def __init__(self, directory: Path, *, ports: Mapping[str, int] | None = None) -> None:
        self._log = directory / "log" / "stand_ins.log"
        kept = [f"--keep={name}={port}" for name, port in (ports or {}).items()]
        self._process = Tethered("fixtures.stand_ins", kept, log=self._log)
        self.origins: Mapping[str, str] = _Origins(self)

    @property
    def control_url(self) -> str:
        """Takes GET and POST."""
        return f"{self.told['control']}/control"

    @cached_property
    def told(self) -> dict[str, Any]:
        """Where the control and each service is, as the process says it."""
        line = self._process.first_line()
        if not line:
            raise ProviderFailed(f"The stand-ins of the live services did not start; see {self._log}.")
        told: dict[str, Any] = json.loads(line)
        return told

    @property
    def servers(self) -> Mapping[str, str]:
        """Where each self-hosted server is, by name."""
        servers: Mapping[str, str] = self.told["servers"]
        return servers

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.stop()


class _Origins(Mapping[str, str]):
    """Where each service is, by kind; not asked for before somebody looks."""

    def __init__(self, stand_ins: StandIns) -> None:
        self._stand_ins = stand_ins

    def __getitem__(self, kind: str) -> str:
        return str(self._stand_ins.told["origins"][kind])

    def __iter__(self) -> Iterator[str]:
        return iter(self._stand_ins.told["origins"])

    def __len__(self) -> int:
        return len(self._stand_ins.told["origins"])


def keep_demo_keys(store: PoolSecretStore) -> None:
    """Puts demo keys into every pool that has no keys yet. Raises `NoStore`."""
    for pool, keys in DEMO_KEYS.items():
        if not store.read(pool):
            store.write(pool, keys)


def seed_live(admin: Client, seeded: Seeded) -> None:
    """Registers what is not there yet, and tests what has not passed yet. A service that misbehaves is no reason not to
    start: its provider stays inactive, and `seeded.inactive` says why. Raises `SeedFailed`, `Declined`, `Unreachable`.
    """
    for demo in LIVE_DEMOS:
        if demo.kind not in seeded.ids:
            seeded.ids[demo.kind] = _registered(admin, demo)
            seeded.inactive[demo.kind] = "untested"
        if demo.kind in seeded.inactive:
            _test(admin, demo, seeded)


def inactive_lines(seeded: Seeded) -> Iterator[str]:
    """What to tell about live providers that could not be turned on."""
    for demo in LIVE_DEMOS:
        if demo.kind in seeded.inactive:
            yield (
                f"The live provider {demo.name} ({seeded.ids[demo.kind]}) is registered and not active: its test ended "
                f"in {seeded.inactive[demo.kind]}. Test it again with POST {PROVIDERS}/{seeded.ids[demo.kind]}/test."
            )


def _registered(admin: Client, demo: LiveDemo) -> str:
    wanted = {
        "kind": demo.kind,
        "name": demo.name,
        "exposureProfile": "agent_only",
        "priority": demo.priority,
        "config": demo.config,
    }
    return str(made_provider(admin, wanted)["id"])


def _test(admin: Client, demo: LiveDemo, seeded: Seeded) -> None:
    path = f"{PROVIDERS}/{seeded.ids[demo.kind]}/test"
    try:
        report = admin.patiently(path, {**demo.test, "activate": True}).body
        trouble = str(report["errorCode"]) if report["status"] == "failed" else None
    except Declined as declined:
        trouble = None if declined.status == _GONE else declined.code  # one that an operator removed stays removed
    if trouble is None:
        del seeded.inactive[demo.kind]
    else:
        seeded.inactive[demo.kind] = trouble
