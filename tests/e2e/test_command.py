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
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from infra.cli.main import main
from infra.cli.tethered import Tethered
from tests.e2e.running import (
    CREDENTIALS,
    PROVIDERS,
    WIDGET_SEARCH,
    Gateway,
    call,
    kgw,
    local_of,
    running,
    start,
    wait_until_gone,
)
from tests.support.fake_exchanges import json_answer
from tests.support.scripted_service import scripted_service

pytestmark = [pytest.mark.emulator]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_everything_it_started(tmp_path: Path, number: signal.Signals) -> None:
    with running(tmp_path) as gateway:
        gateway.search("widget", query="ferry pass")
        pids = gateway.pids()
        assert len(pids) >= 9  # itself, the backend, four providers, at least three functions
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
        gateway.stop(signal.SIGKILL)
        wait_until_gone(pids)
    with running(tmp_path, "--no-demo"):  # what the killed one left is tidied up
        assert len(list((tmp_path / ".kgw").glob("run-*"))) == 1


def test_when_the_backend_ends_it_says_so_and_ends(tmp_path: Path) -> None:
    with running(tmp_path, "--no-demo") as gateway:
        pids = gateway.pids()
        os.kill(pids[1], signal.SIGKILL)
        assert gateway.process.wait(30) == 1
        wait_until_gone(pids)
    assert "backend has ended" in (tmp_path / "stderr").read_text()


def test_without_the_demo_there_is_nothing_but_the_first_admin(tmp_path: Path) -> None:
    with running(tmp_path, "--no-demo") as gateway:
        assert set(gateway.local) == {"url", "admin", "aws"}
        assert call(gateway.url, "GET", PROVIDERS, token=gateway.local["admin"]).json["providers"] == []
        assert "kg_agt_" not in (tmp_path / "stdout").read_text()


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


def test_with_a_state_directory_a_restart_keeps_registrations_and_tokens(tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    state = tmp_path / "state"
    with running(first, "--state-dir", str(state)) as gateway:
        before = gateway.local
        mine = gateway.provider("My own", "http://127.0.0.1:9", activate=False)
        assert gateway.stop() == 0
    second = tmp_path / "second"
    second.mkdir()
    with running(second, "--state-dir", str(state)) as gateway:
        for name in ("admin", "agent", "assistant", "widget"):
            assert gateway.local[name] == before[name]
        assert json.loads((state / "local.json").read_text()) == gateway.local
        listed = gateway.as_admin("GET", PROVIDERS).json["providers"]
        assert {each["id"] for each in listed} == {
            mine,
            *(each["id"] for demo in ("providers", "live", "servers") for each in before[demo].values()),
        }
        outcomes = gateway.outcomes(query="refund", deadlineMs=1500)
        assert {name: each["errorCode"] for name, each in outcomes.items()} == {
            "Help centre": None,
            "Service desk": None,
            "Old forum": "upstream_error",
            "Harbour handbook": "timeout",
            **dict.fromkeys(("Context7", "Exa", "Mintlify Index", "DeepWiki"), "timeout"),  # too little time to ask
            **dict.fromkeys(("Dify", "FastGPT", "RAGFlow", "Galley")),
        }
        assert gateway.search("widget", query="ferry pass").json["results"]


def test_what_of_the_demo_lost_its_port_meanwhile_moves(tmp_path: Path) -> None:
    """A provider is asked at its new place; the website may use the widget's key from its new origin and no other."""
    state = tmp_path / "state"
    with running(tmp_path, "--state-dir", str(state)) as gateway:
        before, website = gateway.local["providers"]["public"]["url"], gateway.website
        assert call(gateway.website, "GET", "/").status == 200
        assert widget_answers(gateway, website, gateway.local["origin"]) == [200, 200]
        let_in(gateway, "https://mine.example")
        gateway.stop()
        with pytest.raises(ConnectionRefusedError):
            call(website, "GET", "/")
    with listening(before), listening(website), running(tmp_path, "--state-dir", str(state)) as gateway:
        assert gateway.local["providers"]["public"]["url"] != before
        assert gateway.outcomes(query="refund", deadlineMs=1500)["Help centre"]["status"] == "success"
        assert gateway.website != website
        here = (gateway.website, gateway.local["origin"], "https://mine.example")
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


def test_a_second_one_with_the_same_state_directory_is_refused(tmp_path: Path) -> None:
    state, elsewhere = tmp_path / "state", tmp_path / "elsewhere"
    elsewhere.mkdir()
    with running(tmp_path, "--no-demo", "--state-dir", str(state)) as gateway:
        other = kgw(elsewhere, "up", "--port", "0", "--state-dir", str(state))
        assert other.returncode == 1
        assert other.stderr == (
            f"kgw: The gateway at {gateway.url} uses {state} already. End it (kill {gateway.process.pid}), "
            "or give this one another directory.\n"
        )
        assert call(gateway.url, "GET", PROVIDERS, token=gateway.local["admin"]).status == 200
        assert json.loads((state / "local.json").read_text()) == gateway.local


def test_a_second_one_in_the_same_directory_is_refused_and_the_first_is_left_alone(tmp_path: Path) -> None:
    with running(tmp_path, "--no-demo") as gateway:
        other = kgw(tmp_path, "up", "--port", "0")
        assert (other.returncode, other.stdout) == (1, "")
        assert other.stderr == (
            f"kgw: The gateway at {gateway.url} uses .kgw already. End it (kill {gateway.process.pid}), "
            "or start this one from another directory.\n"
        )
        assert json.loads((tmp_path / ".kgw" / "local.json").read_text()) == gateway.local
        assert call(gateway.url, "GET", PROVIDERS, token=gateway.local["admin"]).status == 200
        gateway.stop(signal.SIGKILL)
    with running(tmp_path, "--no-demo") as gateway:  # the dead one holds nothing
        assert call(gateway.url, "GET", PROVIDERS, token=gateway.local["admin"]).status == 200


def test_nothing_in_a_state_directory_that_was_there_is_for_others_to_read(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o755)
    state.chmod(0o755)
    for _ in range(2):  # the second time over what the first left
        with running(tmp_path, "--state-dir", str(state)) as gateway:
            gateway.search("widget", query="ferry pass")
            assert open_to_others(state) == []
            assert gateway.stop() == 0
        assert (state / "aws" / "secretsmanager.json").exists()
        assert open_to_others(state) == []
        for path in state.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)


def open_to_others(directory: Path) -> list[str]:
    return [str(path) for path in directory.rglob("*") if path.lstat().st_mode & 0o077]


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


def test_as_json_it_prints_one_line_that_a_script_can_read(tmp_path: Path) -> None:
    process = start(tmp_path, "--json")
    try:
        local = local_of(process, tmp_path)
    finally:
        process.terminate()
        process.wait(30)
    assert json.loads((tmp_path / "stdout").read_text()) == local


def test_it_listens_on_loopback_alone(tmp_path: Path) -> None:
    with running(tmp_path) as gateway:
        listening = {address for pid in gateway.pids() for address in listening_addresses(pid)}
    assert listening
    assert {address.rpartition(":")[0] for address in listening} == {"127.0.0.1"}


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
    assert run(f"providers enable {made['id']} --json", status=1) == {}
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
