"""The demo's four providers, each a process of its own: they end with the command, whatever ends it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from infra.cli.state import write_private_text
from infra.cli.tethered import Tethered


class ProviderFailed(Exception):
    """A demo provider did not start."""


@dataclass(frozen=True, slots=True)
class Demo:
    """One demo provider: how it is registered, how it is run, and a query that it answers."""

    key: str
    name: str
    exposure_profile: str
    priority: int
    query: str
    options: tuple[str, ...]
    fault: tuple[str, ...] = ()
    note: str = ""


DEMOS = (
    Demo("public", "Help centre", "customer_safe", 100, "refund", ("--audience", "public")),
    Demo("internal", "Service desk", "agent_only", 100, "refund", ("--audience", "internal", "--only", "desk-")),
    Demo(
        "broken",
        "Old forum",
        "customer_safe",
        200,
        "pets",
        ("--audience", "public", "--only", "hc-pets"),
        ("--fail",),
        "fails on purpose",
    ),
    Demo(
        "slow",
        "Harbour handbook",
        "agent_only",
        200,
        "storm",
        ("--audience", "internal", "--only", "port-"),
        ("--slow", "5"),
        "answers after 5 s on purpose",
    ),
)


class DemoProvider:
    """A provider that has begun to start. Its signing secret is what lies in `secret_file`.

    `port` is that of an earlier run, used again if it is free. Whoever is registered for the first time, or has moved
    to another port, answers the test that activates it before it does anything wrong on purpose.
    """

    def __init__(self, demo: Demo, *, directory: Path, port: int | None) -> None:
        self.demo = demo
        self.secret_file = directory / "secrets" / demo.key
        self.url = ""
        self._directory = directory
        self._is_moved = port is None
        self._process = self._launch(port=port or 0, healthy_for=0 if port else 1)

    def await_start(self) -> None:
        """Sets `url`. Raises `ProviderFailed`."""
        self.url = self._process.first_line()
        if not self.url and not self._is_moved:
            self._is_moved = True
            self.stop()
            self._process = self._launch(port=0, healthy_for=1)
            self.url = self._process.first_line()
        if not self.url:
            raise ProviderFailed(f"The demo provider {self.demo.name} did not start; see {self._directory / 'log'}.")

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def keep_secret(self, secret: str) -> None:
        write_private_text(self.secret_file, secret + "\n")

    def ask_to_end(self) -> None:
        self._process.ask_to_end()

    def stop(self) -> None:
        self._process.stop()

    def _launch(self, *, port: int, healthy_for: int) -> Tethered:
        options = [*self.demo.options, *self.demo.fault, "--healthy-for", str(healthy_for)]
        options += ["--name", self.demo.key, "--port", str(port), "--secret-file", str(self.secret_file)]
        options += ["--nonce-file", str(self._directory / f"nonces-{self.demo.key}.sqlite")]
        return Tethered("fixtures.reference_provider", options, log=self._directory / "log" / "providers.log")


class DemoProviders:
    """All four, by key. They start beside whatever else is done until `await_start`."""

    def __init__(self, directory: Path, *, ports: Mapping[str, int], demos: Sequence[Demo] = DEMOS) -> None:
        self.by_key: dict[str, DemoProvider] = {}
        try:
            for demo in demos:
                self.by_key[demo.key] = DemoProvider(demo, directory=directory, port=ports.get(demo.key))
        except BaseException:
            self.stop()
            raise

    def await_start(self) -> None:
        """Raises `ProviderFailed`."""
        for provider in self.by_key.values():
            provider.await_start()

    def stop(self) -> None:
        for provider in self.by_key.values():
            provider.ask_to_end()
        for provider in self.by_key.values():
            provider.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
