"""What lies in `.kgw/local.json` is believed by every command alike: only when it is this user's own, and of this
machine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.cli.main import main
from tests.support.scripted_gateway import ScriptedGateway, scripted_gateway

READERS = {
    "providers": ["providers", "list"],
    "search": ["search", "ferry"],
    "widget": ["search", "ferry", "--as", "widget"],
    "status": ["status"],
    "keys-import": ["keys", "import", "keys.env"],
}
every_reader = pytest.mark.parametrize("arguments", READERS.values(), ids=READERS)
KEY = "a-key-of-a-service-0123456789"


@pytest.fixture
def gateway() -> Iterator[ScriptedGateway]:
    with scripted_gateway() as gateway:
        yield gateway


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory in which somebody has keys to import."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keys.env").write_text(f"EXA_API_KEY={KEY}\n")
    (tmp_path / ".kgw").mkdir(mode=0o700)
    return tmp_path


def written(here: Path, url: str, *, store: str | None = None) -> Path:
    """As a gateway would tell where it and its secrets are."""
    tokens = dict.fromkeys(("admin", "agent", "widget"), "kg_adm_root_x")
    aws = {"endpointUrl": store or url, "poolSecrets": {"exa": "x", "context7": "y", "firecrawl": "z"}}
    file = here / ".kgw" / "local.json"
    file.write_text(json.dumps({"url": url, **tokens, "origin": "https://www.example.com", "aws": aws}))
    file.chmod(0o600)
    return file


def open_to_others(file: Path) -> None:
    file.chmod(0o646)


def open_to_a_group(file: Path) -> None:
    file.chmod(0o660)


def in_an_open_directory(file: Path) -> None:
    file.parent.chmod(0o777)


def a_link(file: Path) -> None:
    file.rename(file.parent / "other.json")
    file.symlink_to("other.json")


def a_directory(file: Path) -> None:
    file.unlink()
    file.mkdir(mode=0o700)


def a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


TAMPERED: dict[str, Callable[[Path], Any]] = {
    "others": open_to_others,
    "group": open_to_a_group,
    "directory-of-all": in_an_open_directory,
    "link": a_link,
    "directory": a_directory,
    "pipe": a_pipe,
}


@every_reader
@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
def test_what_others_could_have_written_is_not_believed(
    gateway: ScriptedGateway,
    here: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    tamper: Callable[[Path], Any],
) -> None:
    tamper(written(here, gateway.url))

    assert main(arguments) == 1
    assert ".kgw/local.json cannot be " in capsys.readouterr().err
    assert gateway.asked == []


@every_reader
def test_what_another_user_has_written_is_not_believed(
    gateway: ScriptedGateway,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
) -> None:
    file = written(here, gateway.url)
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)

    assert main(arguments) == 1
    assert capsys.readouterr().err == "kgw: .kgw/local.json cannot be used: it belongs to another user.\n"
    assert gateway.asked == []


@every_reader
@pytest.mark.parametrize(
    "url",
    ["http://gateway.example.com", "https://192.0.2.7:47815", "http://127.0.0.1.example.com", "http://0.0.0.0:1"],
)
def test_nothing_goes_to_another_machine(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], url: str
) -> None:
    written(here, url)

    assert main(arguments) == 1
    assert capsys.readouterr().err == "kgw: The url in .kgw/local.json is not of this machine.\n"


@pytest.mark.parametrize(
    "store", ["http://127.0.0.1:1@192.0.2.7", "http://127.0.0.1\\@192.0.2.7", "file:///x", "http://192.0.2.7#127.0.0.1"]
)
def test_keys_go_to_no_address_that_two_readers_could_read_differently(
    gateway: ScriptedGateway, here: Path, capsys: pytest.CaptureFixture[str], store: str
) -> None:
    written(here, gateway.url, store=store)

    assert main(["keys", "import", "keys.env"]) == 1
    assert capsys.readouterr().err.startswith("kgw: The url in .kgw/local.json wants an http:// or https:// URL")


def test_keys_for_this_machine_go_through_no_proxy(
    gateway: ScriptedGateway, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, gateway.url)
    with scripted_gateway() as store:
        written(here, gateway.url, store=store.url)
        assert main(["keys", "import", "keys.env"]) == 1  # it is no secret store
        assert store.asked
    assert gateway.asked == []
