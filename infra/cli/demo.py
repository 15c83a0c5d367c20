"""The demo: its processes, and what is registered for them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from infra.cli.demo_cards import seed_cards
from infra.cli.demo_live import LIVE_DEMOS, StandIns, inactive_lines, keep_demo_keys, seed_live
from infra.cli.demo_providers import DemoProviders
from infra.cli.demo_servers import kept_ports, seed_servers
from infra.cli.demo_servers import told as servers_told
from infra.cli.http import Client
from infra.cli.pool_secrets import PoolSecretStore
from infra.cli.seed import ORIGIN, Seeded, seed


class Damaged(Exception):
    """What an earlier run has noted cannot be read. The message names the file and says what to do."""


class RunningDemo:
    """Use as a context manager: its processes begin to start at once and end with it. With `keep`, what is registered
    is noted in `directory` for the next run. Raises `Damaged`.
    """

    def __init__(self, directory: Path, *, keep: bool) -> None:
        self._note = directory / "demo.json"
        self._keep = keep
        self._seeded = _seeded(self._note)
        with ExitStack() as starting:
            self.stand_ins = starting.enter_context(StandIns(directory, ports=kept_ports(self._seeded)))
            self.providers = starting.enter_context(DemoProviders(directory, ports=self._seeded.ports))
            self._running = starting.pop_all()

    def seed(self, admin: Client, pool_secrets: PoolSecretStore, *, website_port: int) -> dict[str, Any]:
        """Registers what is not there yet, the website's origin among it, and returns what callers are told.

        Raises `ProviderFailed`, `SeedFailed`, `NoStore`, `Declined`, `Unreachable`.
        """
        self.providers.await_start()
        keep_demo_keys(pool_secrets)
        try:
            seed(admin, self.providers.by_key, self._seeded, website_port=website_port)
            seed_live(admin, self._seeded)
            seed_servers(admin, self.stand_ins.servers, self._seeded)
            seed_cards(admin, self._seeded)
        finally:
            if self._keep:
                self._seeded.write(self._note)
        return self._told()

    @property
    def notes(self) -> list[str]:
        """What did not go as it should, once it is seeded."""
        return list(inactive_lines(self._seeded))

    def _told(self) -> dict[str, Any]:
        seeded = self._seeded
        return {
            **seeded.tokens,
            "origin": ORIGIN,
            "collection": seeded.collections["customer_safe"],
            "collections": dict(seeded.collections),
            "providers": {
                key: {"id": seeded.ids[key], "url": each.url, "pid": each.pid, "secretFile": str(each.secret_file)}
                for key, each in self.providers.by_key.items()
            },
            "live": {demo.kind: {"id": seeded.ids[demo.kind], "name": demo.name} for demo in LIVE_DEMOS},
            "servers": servers_told(seeded),
            "standIns": {
                "controlUrl": self.stand_ins.control_url,
                "origins": dict(self.stand_ins.origins),
                "servers": dict(self.stand_ins.servers),
                "pid": self.stand_ins.pid,
            },
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._running.close()


def _seeded(kept: Path) -> Seeded:
    try:
        return Seeded.read(kept)
    except (ValueError, TypeError):
        raise Damaged(f"{kept} is damaged. Remove it, and the demo is registered again.") from None
