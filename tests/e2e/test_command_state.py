"""With a state directory: what is kept from one run to the next, what moves, and that it is for nobody else to read."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import (
    CREDENTIALS,
    PROVIDERS,
    WIDGET_SEARCH,
    Gateway,
    call,
    running,
    start,
    wait_until_gone,
)

pytestmark = [pytest.mark.emulator]

ELSEWHERE = "https://mine.example"


@dataclass(frozen=True, slots=True)
class First:
    """A run over a directory that was there, open to everyone."""

    state: Path
    local: dict[str, Any]
    mine: str  # the id of a provider that the demo knows nothing of
    widget_answers: list[int]  # from its website, and from the origin that its demo asks from
    website_status: int
    open_to_others: list[str]
    status: int
    left_open_to_others: list[str]


@dataclass(frozen=True, slots=True)
class Second:
    """A run over what the first left, made readable to everyone meanwhile."""

    local: dict[str, Any]
    written: dict[str, Any]
    listed: set[str]
    outcomes: dict[str, dict[str, Any]]
    found: list[dict[str, Any]]
    open_to_others: list[str]
    status: int
    left_open_to_others: list[str]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> First:
    directory = tmp_path_factory.mktemp("first")
    state = directory / "state"
    state.mkdir(mode=0o755)
    state.chmod(0o755)
    with running(directory, "--state-dir", str(state)) as gateway:
        mine = gateway.provider("My own", "http://127.0.0.1:9", activate=False)
        website = call(gateway.website, "GET", "/").status
        answers = widget_answers(gateway, gateway.website, gateway.local["origin"])
        let_in(gateway, ELSEWHERE)
        opened, pids = open_to_others(state), gateway.pids()
        status = gateway.stop()
        wait_until_gone(pids)
        return First(state, gateway.local, mine, answers, website, opened, status, open_to_others(state))


@pytest.fixture(scope="module")
def second(first: First, tmp_path_factory: pytest.TempPathFactory) -> Second:
    for path in first.state.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    with running(tmp_path_factory.mktemp("second"), "--state-dir", str(first.state)) as gateway:
        written = json.loads((first.state / "local.json").read_text())
        listed = {each["id"] for each in gateway.as_admin("GET", PROVIDERS).json["providers"]}
        outcomes = gateway.outcomes(query="refund", deadlineMs=1500)
        found = gateway.search("widget", query="ferry pass").json["results"]
        opened, status = open_to_others(first.state), gateway.stop()
        left_open = open_to_others(first.state)
        return Second(gateway.local, written, listed, outcomes, found, opened, status, left_open)


def test_a_restart_keeps_registrations_and_tokens(first: First, second: Second) -> None:
    for name in ("admin", "agent", "assistant", "widget"):
        assert second.local[name] == first.local[name]
    assert second.written == second.local
    assert second.listed == {
        first.mine,
        *(each["id"] for demo in ("providers", "live", "servers") for each in first.local[demo].values()),
    }
    assert {name: each["errorCode"] for name, each in second.outcomes.items()} == {
        "Help centre": None,
        "Service desk": None,
        "Old forum": "upstream_error",
        "Harbour handbook": "timeout",
        **dict.fromkeys(("Context7", "Exa", "Mintlify Index", "DeepWiki"), "timeout"),  # too little time to ask
        **dict.fromkeys(("Dify", "FastGPT", "RAGFlow", "Galley")),
    }
    assert second.found


def test_nothing_in_a_directory_that_was_there_is_for_others_to_read(first: First, second: Second) -> None:
    for run in (first, second):
        assert run.open_to_others == []
        assert run.status == 0
        assert run.left_open_to_others == []
    assert (first.state / "aws" / "secretsmanager.json").exists()


def test_what_of_the_demo_lost_its_port_meanwhile_moves(first: First, second: Second, tmp_path: Path) -> None:
    """A provider is asked at its new place; the website may use the widget's key from its new origin and no other."""
    before, website = second.local["providers"]["public"]["url"], second.local["website"]
    assert first.website_status == 200
    assert first.widget_answers == [200, 200]
    with pytest.raises(ConnectionRefusedError):
        call(website, "GET", "/")
    with listening(before), listening(website), running(tmp_path, "--state-dir", str(first.state)) as gateway:
        assert gateway.local["providers"]["public"]["url"] != before
        assert gateway.outcomes(query="refund", deadlineMs=1500)["Help centre"]["status"] == "success"
        assert gateway.website != website
        here = (gateway.website, gateway.local["origin"], ELSEWHERE)
        assert widget_answers(gateway, *here, website) == [200, 200, 200, 403]


def widget_answers(gateway: Gateway, *origins: str) -> list[int]:
    key, body = gateway.local["widget"], {"query": "ferry pass"}
    return [call(gateway.url, "POST", WIDGET_SEARCH, body, token=key, Origin=origin).status for origin in origins]


def let_in(gateway: Gateway, origin: str) -> None:
    """As an operator would, beside those that are listed."""
    path = f"{CREDENTIALS}/{gateway.local['widget'].split('_')[2]}"
    present = gateway.as_admin("GET", path)
    origins = [*present.found["origins"], origin]
    assert gateway.as_admin("PATCH", path, {"origins": origins}, If_Match=present.headers["etag"]).status == 200


@contextmanager
def listening(address: str) -> Iterator[None]:
    """Somebody else has this port."""
    with socket.socket() as squatter:
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        squatter.bind(("127.0.0.1", int(address.rpartition(":")[2])))
        squatter.listen()
        yield


def open_to_others(directory: Path) -> list[str]:
    return [str(path) for path in directory.rglob("*") if path.lstat().st_mode & 0o077]


def test_a_start_that_was_killed_half_way_does_not_stand_in_the_way_of_the_next(tmp_path: Path) -> None:
    state = tmp_path / "state"
    process = start(tmp_path, "--state-dir", str(state))
    gateway = Gateway(process, tmp_path, {})
    while not (state / "secrets" / "internal").exists():  # two of four providers are registered
        assert process.poll() is None, (tmp_path / "stderr").read_text()
    pids = gateway.pids()
    gateway.stop(signal.SIGKILL)
    wait_until_gone(pids)
    assert not (tmp_path / ".kgw" / "local.json").exists()
    with running(tmp_path, "--state-dir", str(state)) as gateway:
        assert len(gateway.as_admin("GET", PROVIDERS).found["providers"]) == 13
        outcomes = gateway.outcomes(query="refund", deadlineMs=1500)
        assert outcomes["Help centre"]["status"] == outcomes["Service desk"]["status"] == "success"
