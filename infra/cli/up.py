"""`kgw up`: the whole gateway on this machine, in the foreground, until it is told to end."""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections import ChainMap
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

from functions.assets.faces import CONSOLE, WIDGET, integrity_of, pinned_name, present_script
from infra.cli import texts
from infra.cli.demo import Damaged, RunningDemo
from infra.cli.demo_providers import ProviderFailed
from infra.cli.ending import Told
from infra.cli.http import Client, Declined, Unreachable
from infra.cli.local_origins import BadOrigins, origin_lines, wished_origins
from infra.cli.pool_secrets import NoStore, embedded_store
from infra.cli.seed import SeedFailed
from infra.cli.state import (
    LOCAL,
    AlreadyRunning,
    Unusable,
    only_one_here,
    remove_if_own,
    state_directory,
    write_private,
)
from infra.cli.terminal import note, say, say_json
from infra.cli.website.markup import Gateway
from infra.cli.website.site import Website
from infra.local.emulator import EmulatorFailed, EmulatorMissing
from infra.local.runtime import Runtime

_CHECK_EVERY_S = 1.0
_IN_THE_WAY = (
    AlreadyRunning,
    Damaged,
    EmulatorFailed,
    EmulatorMissing,
    NoStore,
    ProviderFailed,
    SeedFailed,
    Unusable,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """`state_dir` keeps registrations from one run to the next; without it nothing is kept."""

    port: int
    demo: bool
    state_dir: Path | None
    as_json: bool


class CannotRun(Told):
    """The message says what is in the way and what to do."""


def up(wishes: Wishes) -> int:
    """Runs until SIGINT, SIGTERM or SIGHUP. Returns the exit status; 1 when something it needs has ended."""
    named = _named_origins()
    ending = _Ending()
    os.umask(0o077)  # for every process below this one too: secrets lie in what they write
    try:
        with ExitStack() as stack:
            runtime = _serve(wishes, named, stack)
            ending.starting = False
            return _wait(runtime, ending.asked)
    except KeyboardInterrupt:
        return 0
    except _IN_THE_WAY as error:
        raise CannotRun(str(error)) from None
    except (Declined, Unreachable) as error:
        raise CannotRun(f"The demo could not be registered. {error}") from None
    except BrokenPipeError:  # whoever read what it prints has gone
        raise
    except OSError as error:  # a full disk, say
        raise CannotRun(f"{error.filename or 'Cannot run'}: {error.strerror}.") from None


def _named_origins() -> Mapping[str, str]:
    try:
        return wished_origins(os.environ)
    except BadOrigins as error:
        raise CannotRun(str(error)) from None


class _Ending:
    """The first signal ends a start at once and a running gateway in good order; later ones do not disturb that."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.starting = True
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._ask)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        first = not self.asked.is_set()
        self.asked.set()
        if self.starting and first:
            raise KeyboardInterrupt


def _serve(wishes: Wishes, named: Mapping[str, str], stack: ExitStack) -> Runtime:
    """`named` are origins of live services; the demo stands in for the others."""
    stack.enter_context(only_one_here())
    directory = stack.enter_context(state_directory(wishes.state_dir))
    backend_state = directory / "aws" if wishes.state_dir else None
    demo = stack.enter_context(RunningDemo(directory, keep=wishes.state_dir is not None)) if wishes.demo else None
    origins = ChainMap(dict(named), demo.stand_ins.origins) if demo else named  # type: ignore[arg-type]  # only read
    runtime = stack.enter_context(_runtime(wishes.port, directory, backend_state, origins))
    runtime.warm_up("admin", "search")
    secrets = runtime.pool_secrets()
    local: dict[str, Any] = {"url": runtime.url, "admin": runtime.root_token(), **_faces(runtime.url)}
    local["aws"] = {"endpointUrl": runtime.aws_endpoint, "poolSecrets": secrets}
    if demo:
        website = stack.enter_context(Website(gateway_port=urlsplit(runtime.url).port or 0))
        admin, store = Client(runtime.url, local["admin"]), embedded_store(runtime.aws_endpoint, secrets)
        local |= demo.seed(admin, store, website_port=website.port)
        local["website"] = website.url
        website.open(_known_to_the_website(local))
    _announce(local, stack, state_dir=wishes.state_dir)
    _say(wishes, local, demo, [*origin_lines(named), *(demo.notes if demo else [])])
    runtime.warm_up("widget", "assets")
    if demo and not wishes.as_json:
        say(*texts.answer_text(Client(runtime.url, local["agent"]).patiently(texts.SEARCH, texts.QUESTION).body))
    return runtime


def _faces(url: str) -> dict[str, Any]:
    script = present_script()
    pinned = {"url": url + WIDGET + pinned_name(script), "integrity": integrity_of(script)}
    return {"console": url + CONSOLE, "widgetScript": pinned}


def _known_to_the_website(local: Mapping[str, Any]) -> Gateway:
    return Gateway(
        url=local["url"],
        key=local["widget"],
        script=local["widgetScript"]["url"],
        integrity=local["widgetScript"]["integrity"],
        console=local["console"],
    )


def _runtime(port: int, directory: Path, state_dir: Path | None, origins: Mapping[str, str]) -> Runtime:
    try:
        return Runtime(port=port, log_dir=directory / "log", state_dir=state_dir, local_origins=origins)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CannotRun(f"Port {port} is in use. Choose another: kgw up --port {port + 1}") from None
        if error.filename:  # not about the port
            raise
        raise CannotRun(f"Cannot listen on port {port}: {error.strerror}.") from None


def _announce(local: Mapping[str, Any], stack: ExitStack, *, state_dir: Path | None) -> None:
    """Written once everything serves; removed when it no longer does."""
    for path in (LOCAL, *([state_dir / LOCAL.name] if state_dir else [])):
        write_private(path, local)
        stack.callback(remove_if_own, path.resolve(), local)


def _say(wishes: Wishes, local: Mapping[str, Any], demo: RunningDemo | None, notes: Iterable[str]) -> None:
    for each in notes:
        note(f"kgw: {each}")
    if wishes.as_json:
        say_json(local, indent=None)
    else:
        say(*texts.welcome(local, list(demo.providers.by_key.values()) if demo else []))


def _wait(runtime: Runtime, asked: threading.Event) -> int:
    while not asked.wait(_CHECK_EVERY_S):
        if not runtime.is_sound:
            note("kgw: the embedded AWS backend has ended, so nothing can be served any more.")
            return 1
    return 0
