"""With a state directory: what is kept from one run to the next, what moves, and that it is for nobody else to read."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
    kgw,
    running,
    start,
    wait_until_gone,
)
from tests.e2e.test_live_demo import KINDS
from tests.e2e.test_live_demo import Demo as LiveServices
from tests.e2e.test_server_demo import MIXED, outcomes
from tests.e2e.test_server_demo import Demo as Servers

pytestmark = [pytest.mark.emulator]

ELSEWHERE = "https://mine.example"
MOVED = ("dify-1.14", "dify_external")


@dataclass(frozen=True, slots=True)
class First:
    """A run over a directory that was there, open to everyone. It got a provider and a key of somebody's own."""

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
    keys: dict[str, str]  # states of those of Exa
    live: set[tuple[str, str | None]]  # outcomes of the live services
    calls: tuple[int, int]  # that Exa heard: all, and those with the key of somebody's own
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
        (directory / ".env").write_text("EXA_API_KEY_1=exa-mine-0001")
        assert kgw(directory, "keys", "import", ".env", "--replace").returncode == 0
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
        services = LiveServices(gateway)
        keys, live = services.states("exa"), {services.outcome(kind) for kind in KINDS}
        calls = services.calls("exa"), services.calls_with("exa", "exa-mine-0001")
        shown = gateway.outcomes(query="refund", deadlineMs=1500)
        found = gateway.search("widget", query="ferry pass").json["results"]
        opened, status = open_to_others(first.state), gateway.stop()
        left_open = open_to_others(first.state)
        return Second(
            local=gateway.local,
            written=written,
            listed=listed,
            keys=keys,
            live=live,
            calls=calls,
            outcomes=shown,
            found=found,
            open_to_others=opened,
            status=status,
            left_open_to_others=left_open,
        )


@pytest.fixture(scope="module")
def moved(first: First, second: Second, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A third run, while others have the ports of a provider, of the website and of two servers."""
    places = [second.local["providers"]["public"]["url"], second.local["website"]]
    places += [second.local["standIns"]["servers"][name] for name in MOVED]
    with pytest.raises(ConnectionRefusedError):
        call(second.local["website"], "GET", "/")
    with ExitStack() as stack:
        for place in places:
            stack.enter_context(listening(place))
        yield stack.enter_context(running(tmp_path_factory.mktemp("moved"), "--state-dir", str(first.state)))


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


def test_what_was_registered_and_imported_for_live_services_outlives_a_restart(first: First, second: Second) -> None:
    assert second.local["live"] == first.local["live"]
    assert second.keys == {"EXA_API_KEY_1": "active"}
    assert second.live == {("success", None)}
    every, with_mine = second.calls
    assert with_mine == every >= 1


def test_what_of_the_demo_lost_its_port_meanwhile_moves(first: First, second: Second, moved: Gateway) -> None:
    """A provider is asked at its new place; the website may use the widget's key from its new origin and no other."""
    assert first.website_status == 200
    assert first.widget_answers == [200, 200]
    assert moved.local["providers"]["public"]["url"] != second.local["providers"]["public"]["url"]
    assert moved.outcomes(query="refund", deadlineMs=1500)["Help centre"]["status"] == "success"
    website = second.local["website"]
    assert moved.website != website
    here = (moved.website, moved.local["origin"], ELSEWHERE)
    assert widget_answers(moved, *here, website) == [200, 200, 200, 403]


def test_servers_that_move_are_found_again(second: Second, moved: Gateway) -> None:
    assert moved.local["servers"] == second.local["servers"]
    before, after = (run["standIns"]["servers"] for run in (second.local, moved.local))
    where_one_was = {name for name, url in after.items() if url in before.values()}
    assert {"fastgpt-4.12", "ragflow-0.26"} <= where_one_was
    assert not where_one_was & set(MOVED)
    found = Servers(moved).search(*MIXED, "Galley")
    assert set(outcomes(found).values()) <= {("success", None), ("empty", None)}
    assert outcomes(found)["Dify"] == ("success", None)


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
