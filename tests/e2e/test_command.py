"""The command itself: it ends with what it started, keeps what it is told to keep, and says what is wrong."""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infra.cli.main import main
from infra.cli.tethered import Tethered
from tests.e2e.running import (
    PROVIDERS,
    Gateway,
    call,
    kgw,
    running,
    start,
    wait_until_gone,
)
from tests.support.fake_exchanges import json_answer
from tests.support.scripted_service import scripted_service

pytestmark = [pytest.mark.emulator]


@dataclass(frozen=True, slots=True)
class Interrupted:
    """What one with its demo had, did and left when Ctrl-C ended it."""

    directory: Path
    local: dict[str, Any]
    pids: list[int]
    listened_on: set[str]
    status: int

    def said(self, where: str) -> str:
        return (self.directory / where).read_text()


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Interrupted:
    directory = tmp_path_factory.mktemp("interrupted")
    with running(directory, "--json") as gateway:
        gateway.search("widget", query="ferry pass")
        pids = gateway.pids()
        listened_on = {address for pid in pids for address in listening_addresses(pid)}
        return Interrupted(directory, gateway.local, pids, listened_on, gateway.stop(signal.SIGINT))


def test_a_signal_ends_it_and_everything_it_started(interrupted: Interrupted) -> None:
    assert len(interrupted.pids) >= 9  # itself, the backend, four providers, at least three functions
    assert interrupted.status == 0
    wait_until_gone(interrupted.pids)
    assert os.listdir(interrupted.directory / ".kgw") == ["here.lock"]
    assert interrupted.said("stderr") == ""


def test_as_json_it_prints_one_line_that_a_script_can_read(interrupted: Interrupted) -> None:
    assert json.loads(interrupted.said("stdout")) == interrupted.local


def test_it_listens_on_loopback_alone(interrupted: Interrupted) -> None:
    assert interrupted.listened_on
    assert {address.rpartition(":")[0] for address in interrupted.listened_on} == {"127.0.0.1"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_so_do_other_signals(tmp_path: Path, number: signal.Signals) -> None:
    with running(tmp_path, "--no-demo") as gateway:
        assert gateway.as_admin("GET", PROVIDERS).status == 200
        pids = gateway.pids()
        assert len(pids) >= 3  # itself, the backend, at least one function
        assert gateway.stop(number) == 0
        wait_until_gone(pids)
    assert os.listdir(tmp_path / ".kgw") == ["here.lock"]
    assert (tmp_path / "stderr").read_text() == ""


def test_a_signal_while_it_starts_ends_it_too(tmp_path: Path) -> None:
    process = start(tmp_path)
    while not (tmp_path / ".kgw").exists():
        assert process.poll() is None
    gateway = Gateway(process, tmp_path, {})
    pids = gateway.pids()
    assert gateway.stop(signal.SIGINT) == 0
    wait_until_gone(pids)
    assert not (tmp_path / ".kgw" / "local.json").exists()


def test_when_it_is_killed_nothing_that_it_started_survives(tmp_path: Path) -> None:
    with running(tmp_path) as gateway:
        gateway.search("widget", query="ferry pass")
        pids = gateway.pids()
        assert (tmp_path / "stderr").read_text() == ""
        gateway.stop(signal.SIGKILL)
        wait_until_gone(pids)
    with running(tmp_path, "--no-demo") as gateway:  # the dead one holds nothing, and what it left is tidied up
        assert call(gateway.url, "GET", PROVIDERS, token=gateway.local["admin"]).status == 200
        assert len(list((tmp_path / ".kgw").glob("run-*"))) == 1


def test_when_the_backend_ends_it_says_so_and_ends(tmp_path: Path) -> None:
    with running(tmp_path, "--no-demo") as gateway:
        pids = gateway.pids()
        os.kill(pids[1], signal.SIGKILL)
        assert gateway.process.wait(30) == 1
        wait_until_gone(pids)
    assert "backend has ended" in (tmp_path / "stderr").read_text()


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """One without the demo, with a state directory `state`. Nobody changes anything in it."""
    directory = tmp_path_factory.mktemp("bare")
    with running(directory, "--no-demo", "--state-dir", str(directory / "state")) as gateway:
        yield gateway


def test_without_the_demo_there_is_nothing_but_the_first_admin(bare: Gateway) -> None:
    assert set(bare.local) == {"url", "admin", "aws", "console", "widgetScript"}
    assert call(bare.url, "GET", PROVIDERS, token=bare.local["admin"]).json["providers"] == []
    assert "kg_agt_" not in (bare.directory / "stdout").read_text()


def test_a_second_one_with_the_same_state_directory_is_refused(bare: Gateway, tmp_path: Path) -> None:
    state = bare.directory / "state"
    other = kgw(tmp_path, "up", "--port", "0", "--state-dir", str(state))
    assert other.returncode == 1
    assert other.stderr == (
        f"kgw: The gateway at {bare.url} uses {state} already. End it (kill {bare.process.pid}), "
        "or give this one another directory.\n"
    )
    assert call(bare.url, "GET", PROVIDERS, token=bare.local["admin"]).status == 200
    assert json.loads((state / "local.json").read_text()) == bare.local


def test_a_second_one_in_the_same_directory_is_refused_and_the_first_is_left_alone(bare: Gateway) -> None:
    other = kgw(bare.directory, "up", "--port", "0")
    assert (other.returncode, other.stdout) == (1, "")
    assert other.stderr == (
        f"kgw: The gateway at {bare.url} uses .kgw already. End it (kill {bare.process.pid}), "
        "or start this one from another directory.\n"
    )
    assert json.loads((bare.directory / ".kgw" / "local.json").read_text()) == bare.local
    assert call(bare.url, "GET", PROVIDERS, token=bare.local["admin"]).status == 200


@pytest.mark.parametrize("options", [["--no-demo"], []], ids=["no_demo", "demo"])
def test_a_live_service_is_asked_where_the_environment_says(tmp_path: Path, options: list[str]) -> None:
    found = json_answer({"results": [{"url": "https://docs.harbour.test/mine", "title": "Mine", "text": "From here."}]})
    (tmp_path / ".env").write_text("EXA_API_KEY=exa-mine-0001\n")
    wanted = {"kind": "exa", "name": "My Exa", "exposureProfile": "agent_only"}
    wanted["config"] = {"approvedHosts": ["docs.harbour.test"]}  # type: ignore[assignment]
    with scripted_service(found) as service:
        origins = json.dumps({"exa": service.origin})
        with running(tmp_path, *options, KG_LOCAL_ORIGINS=origins) as gateway:
            assert kgw(tmp_path, "keys", "import", ".env").returncode == 0
            made = gateway.as_admin("POST", PROVIDERS, wanted).found
            report = gateway.as_admin("POST", f"{PROVIDERS}/{made['id']}/test", {"query": "a gate", "activate": True})
            assert [each["snippet"] for each in report.found["results"]] == ["From here."]
    assert {each.path for each in service.asked} == {"/search"}
    told = (tmp_path / "stderr").read_text()
    assert told == f"kgw: exa is asked at {service.origin}, as KG_LOCAL_ORIGINS says.\n"  # and the others work


@pytest.mark.parametrize("where", ["file", "file/below", "/proc/x", "/dev/null"])
def test_a_state_directory_that_cannot_be_used_is_said_in_one_line(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_text("x")
    other = kgw(tmp_path, "up", "--port", "0", "--state-dir", where)
    assert (other.returncode, other.stdout) == (1, "")
    assert other.stderr.startswith(f"kgw: Cannot keep anything in {where}: ")
    assert other.stderr.count("\n") == 1


def test_a_damaged_note_of_the_demo_is_said_in_one_line(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "demo.json").write_text("{")
    other = kgw(tmp_path, "up", "--port", "0", "--state-dir", str(state))
    assert (other.returncode, other.stdout) == (1, "")
    assert other.stderr == f"kgw: {state}/demo.json is damaged. Remove it, and the demo is registered again.\n"


def test_a_port_in_use_is_said_at_once(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = start(tmp_path, "--port", str(port))
        assert process.wait(60) == 1
    said = (tmp_path / "stderr").read_text()
    assert said == f"kgw: Port {port} is in use. Choose another: kgw up --port {port + 1}\n"


def test_without_the_emulator_it_says_how_to_get_it(tmp_path: Path) -> None:
    other = kgw(tmp_path, "up", "--port", "0", KG_EMULATOR_PYTHON="/nowhere/python")
    assert other.returncode == 1
    assert other.stderr.startswith("kgw: There is no /nowhere/python.")
    assert "Traceback" not in other.stderr


def listening_addresses(pid: int) -> list[str]:
    """The addresses on which a process listens, from the kernel's table of sockets."""
    sockets = set()
    for link in (Path("/proc") / str(pid) / "fd").iterdir():
        try:
            target = os.readlink(link)
        except FileNotFoundError:
            continue  # closed since it was listed
        if target.startswith("socket:["):
            sockets.add(target[8:-1])
    found = []
    for table, width in (("tcp", 8), ("tcp6", 32)):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                host, port = fields[1].split(":")
                raw = bytes.fromhex(host)
                address = ".".join(str(byte) for byte in reversed(raw)) if width == 8 else host
                found.append(f"{address}:{int(port, 16)}")
    return found


def test_kgw_search_asks_with_the_tokens_of_the_running_one(gateway: Gateway) -> None:
    for caller, expected in (("agent", "Service desk"), ("assistant", "help.lumsund"), ("widget", "help.lumsund")):
        shown = kgw(gateway.directory, "search", "refund", "--as", caller)
        assert shown.returncode == 0, shown.stderr
        assert expected in shown.stdout


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of one that is registered nowhere, and the file out of which it reads its secret."""
    file = tmp_path / "its-secret"
    options = [
        "--audience",
        "public",
        "--healthy-for",
        "1",
        "--name",
        "mine",
        "--port",
        "0",
        "--secret-file",
        str(file),
    ]
    options += ["--nonce-file", str(tmp_path / "nonces.sqlite")]
    process = Tethered("fixtures.reference_provider", options, log=tmp_path / "log")
    try:
        yield process.first_line(), file
    finally:
        process.stop()


def test_a_gateway_elsewhere_is_administered_from_logging_in_to_logging_out(
    gateway: Gateway,
    provider: tuple[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url, secret_file = provider
    token_file = tmp_path / "its-token"
    admin = gateway.credential(**{"class": "adm"})
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def run(line: str, *, given: str = "", status: int = 0) -> dict[str, Any]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        assert main(shlex.split(line)) == status, capsys.readouterr().err
        told = capsys.readouterr()
        assert not any(secret in told.out + told.err for secret in secrets)
        answer: dict[str, Any] = json.loads(told.out or "{}")
        return answer

    secrets = [admin]
    run(f"login {gateway.url} --profile there --json", given=admin + "\n")
    made = run(
        f"providers create --name Mine --exposure customer_safe --base-url {url} --secret-to {secret_file} --json"
    )
    secrets.append(secret_file.read_text().strip())
    assert made["needsTest"]
    assert run(f"providers enable {made['id']} --json", status=1)["error"]["code"] == "test_required"
    report = run(f"providers test {made['id']} --query 'ferry pass' --activate --json")
    assert report["activated"]
    run(f"providers rotate {made['id']} --window-hours 0 --secret-to {secret_file} --json")
    secrets.append(secret_file.read_text().strip())
    run(f"providers test {made['id']} --query 'ferry pass' --json")
    issued = run(f"credentials create agt --name Mine --expires 1d --secret-to {token_file} --json")
    secrets.append(token_file.read_text().strip())
    run(f"login {gateway.url} --profile there --json", given=token_file.read_text())
    found = run(f"search 'ferry pass' --provider {made['id']} --deadline-ms 5000 --json")
    assert {each["provider"]["name"] for each in found["results"]} == {"Mine"}
    run(f"credentials revoke {issued['id']} --yes --json")
    run("search 'ferry pass' --json", status=1)
    run(f"providers delete {made['id']}", status=2)
    run(f"providers delete {made['id']} --yes --json")
    listed = run("providers list --json")["providers"]
    assert made["id"] not in [each["id"] for each in listed]
    run("logout --json")
    assert "kg_" not in (tmp_path / "config" / "kgw" / "profiles.json").read_text()
    assert len(set(secrets)) == 4
