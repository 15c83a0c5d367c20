"""The demo's four providers, each a process of its own: they end with the command, whatever ends it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from infra.cli.state import write_private_text

_ROOT = Path(__file__).resolve().parents[2]
_START_TIMEOUT_S = 30.0
_STOP_TIMEOUT_S = 3.0

# Runs a module and ends with its own input: only the command holds the other end of that pipe.
_TETHERED = """
import os, runpy, sys, threading
threading.Thread(target=lambda: (os.read(0, 1), os._exit(0)), daemon=True).start()
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""


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
        ("--slow", "3"),
        "answers after 3 s on purpose",
    ),
)


class DemoProvider:
    """A running provider at `url`. Its signing secret is what lies in `secret_file`."""

    def __init__(self, demo: Demo, *, directory: Path, port: int, healthy_for: int) -> None:
        self.demo = demo
        self.secret_file = directory / "secrets" / demo.key
        self._process = self._launch(directory, port, healthy_for)
        assert self._process.stdout is not None  # noqa: S101  # opened below
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            self.stop()
            raise ProviderFailed(f"The demo provider {demo.name} did not start; see {directory / 'log'}.")

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def keep_secret(self, secret: str) -> None:
        write_private_text(self.secret_file, secret + "\n")

    def ask_to_end(self) -> None:
        self._process.terminate()

    def stop(self) -> None:
        self.ask_to_end()
        try:
            self._process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _launch(self, directory: Path, port: int, healthy_for: int) -> subprocess.Popen[str]:
        options = [*self.demo.options, *self.demo.fault, "--healthy-for", str(healthy_for)]
        options += ["--name", self.demo.key, "--port", str(port), "--secret-file", str(self.secret_file)]
        options += ["--nonce-file", str(directory / f"nonces-{self.demo.key}.sqlite")]
        with (directory / "log" / "providers.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-c", _TETHERED, "fixtures.reference_provider", *options],
                cwd=_ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # Ctrl-C is for the command, which ends its providers itself
            )


class DemoProviders:
    """All four, by key. `ports` are those of an earlier run, used again where they are free."""

    def __init__(self, directory: Path, *, ports: Mapping[str, int], demos: Sequence[Demo] = DEMOS) -> None:
        self.by_key: dict[str, DemoProvider] = {}
        try:
            for demo in demos:
                # A provider that is registered for the first time answers the test that activates it.
                known = ports.get(demo.key)
                self.by_key[demo.key] = _started(demo, directory, port=known or 0, healthy_for=0 if known else 1)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        for provider in self.by_key.values():
            provider.ask_to_end()
        for provider in self.by_key.values():
            provider.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


def _started(demo: Demo, directory: Path, *, port: int, healthy_for: int) -> DemoProvider:
    if port:
        with contextlib.suppress(ProviderFailed):
            return DemoProvider(demo, directory=directory, port=port, healthy_for=healthy_for)
    # On another port it will be tested again before it is used again.
    return DemoProvider(demo, directory=directory, port=0, healthy_for=1)
