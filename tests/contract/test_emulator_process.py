"""The embedded backend as a process: it ends with whoever started it, and a kept state comes back."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import boto3
import pytest

from infra.local.emulator import ACCESS_KEY, REGION, SECRET_KEY, EmulatorMissing, _settings, start_emulator
from infra.local.provision import provision
from tests.support.interrupts import heeds_ctrl_c

pytestmark = pytest.mark.emulator
_PARENT = """
import time
from infra.local.emulator import start_emulator
emulator = start_emulator()
print(emulator.endpoint_url, flush=True)
try:
    time.sleep(600)
except KeyboardInterrupt:
    pass
"""
_PATIENCE_S = 60


def _is_running(endpoint_url: str) -> bool:
    host, _, port = endpoint_url.removeprefix("http://").partition(":")
    return _accepts(host, int(port))


def _accepts(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(5)
        return probe.connect_ex((host, port)) == 0


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_it_ends_with_its_parent_however_that_ends(ending: signal.Signals) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        preexec_fn=heeds_ctrl_c,  # noqa: PLW1509  # nothing else runs in this process
    )
    child = parent.stdout.readline().decode().strip()
    assert _is_running(child)
    parent.send_signal(ending)
    parent.communicate(timeout=_PATIENCE_S)
    until = time.monotonic() + _PATIENCE_S
    while _is_running(child):
        assert time.monotonic() < until, "the backend outlived its parent"
        time.sleep(0.05)


def test_a_missing_interpreter_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KG_EMULATOR_PYTHON", str(tmp_path / "python"))
    with pytest.raises(EmulatorMissing, match="make test"):
        start_emulator()


def test_a_kept_state_comes_back(tmp_path: Path) -> None:
    def client(endpoint_url: str) -> object:
        session = boto3.Session(aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY, region_name=REGION)
        return session.client("dynamodb", endpoint_url=endpoint_url)

    row = {"pk": {"S": "a"}, "sk": {"S": "b"}, "kept": {"BOOL": True}}
    with start_emulator(state_dir=tmp_path / "state") as first:
        environment = provision(first.endpoint_url)
        client(first.endpoint_url).put_item(TableName=environment["KG_TABLE_CARDS"], Item=row)
    with start_emulator(state_dir=tmp_path / "state") as second:
        assert provision(second.endpoint_url) == environment
        answer = client(second.endpoint_url).get_item(
            TableName=environment["KG_TABLE_CARDS"], Key={"pk": {"S": "a"}, "sk": {"S": "b"}}
        )
        assert answer["Item"] == row


def test_stopping_twice_is_fine_and_leaves_no_files() -> None:
    emulator = start_emulator()
    directory = emulator._directory
    assert directory.exists()
    emulator.stop()
    emulator.stop()
    assert emulator.process.returncode is not None
    assert not directory.exists()


def test_it_listens_on_one_loopback_address_alone() -> None:
    with start_emulator() as emulator:
        port = int(emulator.endpoint_url.rpartition(":")[2])
        assert _accepts("127.0.0.1", port)
        assert not _accepts("127.0.0.2", port), "it would answer there if it listened on every address"


def test_no_secret_of_this_process_environment_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "not for others")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a real one")
    settings = _settings(None, False, {})
    assert "SOME_TOKEN" not in settings
    assert settings["AWS_SECRET_ACCESS_KEY"] == SECRET_KEY
    assert settings["PATH"] == os.environ["PATH"]
