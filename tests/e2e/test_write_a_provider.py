"""docs/write-a-provider.md is true: its pieces make a provider, its commands run as written and print what it shows."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from knowledge_conformance.requirements import requirements

from tests.e2e.running import ROOT, Gateway

PAGE = (ROOT / "docs" / "write-a-provider.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_VECTORS = json.loads((ROOT / "docs" / "vectors" / "signatures-v1.json").read_text(encoding="utf-8"))["vectors"]


def blocks(kind: str) -> list[str]:
    return [text for found, text in _BLOCK.findall(PAGE) if found == kind]


def command(word: str) -> str:
    """The one block of shell that holds this word."""
    (text,) = [text for text in blocks("sh") if word in text]
    return text


@pytest.fixture
def provider(tmp_path: Path) -> Path:
    """A directory with `kb.py`, written as the page says, and the command that judges it."""
    (tmp_path / "kb.py").write_text("\n\n".join(blocks("python")), encoding="utf-8")
    judge = tmp_path / "bin" / "knowledge-conformance"
    judge.parent.mkdir()
    judge.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m knowledge_conformance "$@"\n')
    judge.chmod(0o755)
    return tmp_path


@pytest.fixture
def port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def running_kb(directory: Path, port: int, **secrets: str) -> Iterator[None]:
    environment = {"PATH": os.environ["PATH"], "PORT": str(port), **secrets}
    process = subprocess.Popen([sys.executable, "kb.py"], cwd=directory, env=environment, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, process)
        yield
    finally:
        process.kill()
        process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 20
    while process.poll() is None and time.monotonic() < until:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError("kb.py does not listen")


def shell(script: str, directory: Path, port: int, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs what the page says, on a port that is free."""
    path = f"{directory / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-u", "-c", script.replace(":8000", f":{port}")],
        cwd=directory,
        env={"PATH": path, "PYTHONPATH": str(ROOT / "tests" / "conformance"), **environment},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def told(text: str) -> str:
    return re.sub(r"in \d+\.\d s", "in T s", re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1", text)).strip()


def made_up(name: str) -> str:
    """The secret that the page exports under this name."""
    found = re.search(rf"\b{name}=(kgs_\S+)", PAGE if name == "KB_SECRET" else "")
    assert found is not None
    return found[1]


# --- the suite ---------------------------------------------------------------------------------------
def test_the_pieces_of_the_page_pass_the_suite_and_print_what_it_shows(provider: Path, port: int) -> None:
    secrets = {"KB_SECRET": made_up("KB_SECRET")}
    with running_kb(provider, port, **secrets):
        run = shell(command("--secret-env KB_SECRET --allow"), provider, port, **secrets)
    shown, _, _ = blocks("")
    assert run.returncode == 0, run.stdout + run.stderr
    assert told(run.stdout) == told(shown)


def test_the_mistake_of_the_page_is_told_as_it_shows(provider: Path, port: int) -> None:
    sound = (provider / "kb.py").read_text(encoding="utf-8")
    faulty = re.sub(r"(def is_new\(.*\):\n)", r"\1    return True\n", sound)
    assert "Let `is_new` begin with `return True`" in PAGE
    assert faulty != sound
    (provider / "kb.py").write_text(faulty, encoding="utf-8")
    secrets = {"KB_SECRET": made_up("KB_SECRET")}
    with running_kb(provider, port, **secrets):
        run = shell(command("--secret-env KB_SECRET --allow"), provider, port, **secrets)
    _, shown, _ = blocks("")
    assert run.returncode == 1
    assert told(run.stdout).endswith(told(shown))


def test_with_both_secrets_the_rotation_is_examined_as_it_shows(provider: Path, port: int) -> None:
    secrets = {"KB_SECRET": "kgs_another-one-to-try-it-out", "KB_SECRET_PREVIOUS": made_up("KB_SECRET")}
    assert f"KB_SECRET_PREVIOUS=$KB_SECRET KB_SECRET={secrets['KB_SECRET']}" in PAGE
    with running_kb(provider, port, **secrets):
        run = shell(command("--previous-secret-env"), provider, port, **secrets)
    _, _, shown = blocks("")
    assert run.returncode == 0, run.stdout
    assert told(run.stdout).endswith(told(shown))


@pytest.fixture
def kb(provider: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.chdir(provider)
    spec = importlib.util.spec_from_file_location("kb_of_the_page", provider / "kb.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    module.nonces.close()


def test_its_four_steps_hold_against_every_vector(kb: ModuleType) -> None:
    assert {vector["name"]: _verdict(kb, vector) for vector in _VECTORS} == {
        vector["name"]: vector["verdict"] for vector in _VECTORS
    }


def _verdict(kb: ModuleType, vector: dict[str, Any]) -> str:
    body = base64.b64decode(vector["bodyBase64"]) if "bodyBase64" in vector else vector["body"].encode()
    try:
        nonce = kb.nonce_of(vector["header"], body, vector["secrets"], vector["now"])
    except kb.Refused:
        return "refuse"
    return "refuse" if nonce in vector.get("seen", ()) else "accept"


# --- the gateway -------------------------------------------------------------------------------------
@pytest.mark.emulator
def test_its_calls_register_the_provider_and_searches_reach_it(gateway: Gateway, provider: Path, port: int) -> None:
    variables = command(".kgw/local.json")
    register = command("> registered.json")
    made = shell(f"{variables}\n{register}", provider, port, REPO=str(gateway.directory))
    assert made.returncode == 0, made.stderr
    registered = json.loads((provider / "registered.json").read_text())
    known = f"{variables}\n{register.partition('> registered.json')[2]}"
    try:
        with running_kb(provider, port, KB_SECRET=registered["secret"]):
            tried, found = (
                json.loads(shell(f"{known}\n{command(word)}", provider, port, REPO=str(gateway.directory)).stdout)
                for word in ("$ID/test", "$AGENT")
            )
    finally:
        gateway.remove_provider(registered["id"])
    shown_test, shown_search = (json.loads(text) for text in blocks("json"))
    assert tried.keys() - shown_test.keys() == {"effective", "provider"}
    assert _same_in_every_run(tried) == _same_in_every_run(shown_test)
    assert _same_in_every_run(found) == _same_in_every_run(shown_search)


@pytest.mark.emulator
def test_its_commands_can_be_pasted_one_after_the_other(gateway: Gateway, provider: Path, port: int) -> None:
    """All but the first block, which makes an environment. Whoever pastes has the patience to let `kb.py` start."""
    connects = f"import socket; socket.create_connection(('127.0.0.1', {port}))"
    patience = f'for _ in $(seq 400); do python3 -c "{connects}" 2>/dev/null && break; sleep 0.05; done\n'
    script = "\n".join(text + patience * text.endswith("&\n") for text in blocks("sh")[1:])
    known = {"REPO": str(gateway.directory), "PORT": str(port)}
    run = shell(f"set -e\ntrap 'kill $!' EXIT\n{script}", provider, port, **known)
    gateway.remove_provider(json.loads((provider / "registered.json").read_text())["id"])
    assert run.returncode == 0, run.stdout + run.stderr
    assert [line for line in run.stdout.splitlines() if line.startswith("PASSED")] == ["PASSED: profile full"] * 2


_OTHER = {"durationMs", "requestId", "id", "effective", "provider"}


def _same_in_every_run(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _same_in_every_run(each) for name, each in value.items() if name not in _OTHER}
    return [_same_in_every_run(each) for each in value] if isinstance(value, list) else value


# --- what it says of itself --------------------------------------------------------------------------
def test_every_check_that_it_names_exists() -> None:
    ids = set(re.findall(r"`([a-z-]+\.[a-z-]+)`", PAGE)) - {"kb.py", "kb.log"}
    assert len(ids) > 25
    assert ids <= requirements().keys()


def test_it_counts_its_lines_right() -> None:
    lines = "\n\n".join(blocks("python")).count("\n")
    assert f"`kb.py` has {lines} lines" in PAGE


def test_everything_that_it_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", PAGE)
    assert len(links) >= 10
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []
