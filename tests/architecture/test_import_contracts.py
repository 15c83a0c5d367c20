"""The import contracts hold, and each of them bites: one bad import in a copy of the project breaks it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("functions", "shared", "infra")
# The linter, loaded once: each line that it is given is a project, linted by a process of its own that has looked at no
# other, and a file for what it says.
LINTER = """
import os, sys
from importlinter.cli import lint_imports_command
for line in sys.stdin:
    directory, said = line.rstrip("\\n").split("\\t")
    child = os.fork()
    if not child:
        output = os.open(said, os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(directory)
        sys.path.insert(0, directory)
        lint_imports_command(["--no-cache"])
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

# For each contract: what is added to a copy of the project to break it, as file -> content.
BREACHES: dict[str, list[tuple[str, str]]] = {
    "Rooms: imports point inwards": [
        ("shared/domain/breach.py", "import shared.ports.clock\n"),
        ("shared/ports/breach.py", "import shared.services.admit\n"),
        ("shared/services/breach.py", "import shared.adapters.aws\n"),
        ("shared/providers/breach.py", "import shared.assembly.server_askers\n"),
        ("shared/web/breach.py", "import shared.services.admit\n"),
        ("shared/domain/breach.py", "import shared.settings.base\n"),
        ("shared/errors.py", "import shared.domain.exposure\n"),
        ("shared/helpers.py", "ROOM_WITHOUT_A_PLACE = True\n"),
    ],
    "Nothing in shared imports a function or the infrastructure": [
        ("shared/services/breach.py", "import functions.search.handler\n"),
        ("shared/adapters/breach.py", "import infra.tables\n"),
    ],
    "Functions are independent of each other": [("functions/widget/breach.py", "import functions.assets.handler\n")],
    "Functions speak to AWS through the adapters' own client": [
        ("shared/services/breach.py", "import boto3\n"),
        ("shared/adapters/breach.py", "import botocore.auth\n"),
        ("functions/search/breach.py", "import botocore.config\n"),
    ],
    "What is assembled is made of adapters that were handed over": [
        ("shared/assembly/server_askers.py", "import shared.adapters.exchanges\n"),
        ("shared/assembly/knowledge_servers.py", "import shared.settings.public\n"),
    ],
    "The domain is standard library alone": [
        ("shared/domain/breach.py", "import pydantic\n"),
        ("shared/domain/breach.py", "def late() -> None:\n    import httpx\n"),
    ],
    "Providers open no sockets and read no secrets": [
        ("shared/providers/breach.py", "import socket\n"),
        ("shared/providers/breach.py", "import logging\n"),
    ],
    "The customer's search never reaches the agent's": [
        ("functions/widget/breach.py", "import shared.services.search\n"),
        (
            "functions/widget/breach.py",
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import shared.ports.catalog\n",
        ),
        ("functions/widget/breach.py", "import shared.domain.cards\n"),
        ("functions/widget/breach.py", "import shared.adapters.journal_reader\n"),
        ("shared/services/search_for_customer.py", "def late() -> None:\n    import shared.services.open_search\n"),
    ],
    "The customer's cards never reach the agent's": [
        ("shared/adapters/customer_cards.py", "import shared.adapters.card_reader\n"),
        ("shared/services/search_for_assistant.py", "import shared.ports.vocabularies\n"),
        ("shared/services/search_for_assistant.py", "import shared.services.open_search\n"),
    ],
    "What customers use never reaches the live services": [
        ("functions/widget/breach.py", "import shared.providers.mcp_client\n"),
        ("functions/lookup/breach.py", "import shared.settings.live\n"),
        ("shared/services/search_for_customer.py", "import shared.services.ask_live\n"),
        (
            "shared/services/fan_out.py",
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import shared.ports.meter\n",
        ),
        ("shared/adapters/customer_catalog.py", "def late() -> None:\n    import shared.domain.live_configs\n"),
        ("shared/adapters/source_items.py", "import shared.adapters.pool_keys\n"),
    ],
    "Kinds of providers are independent of each other": [
        ("shared/providers/mintlify.py", "import shared.providers.deepwiki\n"),
        ("shared/providers/exa_answers.py", "import shared.providers.firecrawl\n"),
    ],
    "Many keys are matched in one place": [("shared/adapters/breach.py", "import ahocorasick_rs\n")],
}
CASES = [(name, file, content) for name, breaches in BREACHES.items() for file, content in breaches]


@dataclass(frozen=True)
class Linted:
    returncode: int
    said: str


class Linter:
    """Says of any number of projects what `lint-imports` says of them."""

    def __init__(self, process: subprocess.Popen[str], outputs: Path) -> None:
        self._process, self._outputs = process, outputs
        self._asked = 0

    def __call__(self, directory: Path) -> Linted:
        self._asked += 1
        said = self._outputs / f"{self._asked}.txt"
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{directory}\t{said}\n")
        self._process.stdin.flush()
        return Linted(int(self._process.stdout.readline()), said.read_text())


@pytest.fixture(scope="module")
def lint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Linter]:
    outputs = tmp_path_factory.mktemp("linted")
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    command = [sys.executable, "-P", "-c", LINTER]
    pipe = subprocess.PIPE
    # From a place without modules: only what a line names may be found.
    with subprocess.Popen(command, cwd=outputs, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        yield Linter(process, outputs)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("copied")
    for package in PACKAGES:
        ignored = shutil.ignore_patterns("node_modules", "__pycache__")
        shutil.copytree(ROOT / package, copy / package, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


@contextmanager
def added(content: str, *, to: Path) -> Iterator[None]:
    """Adds to a file, or makes it, and leaves it afterwards as it was."""
    before = to.read_bytes() if to.exists() else None
    with to.open("a") as module:
        module.write(content)
    try:
        yield
    finally:
        to.unlink()
        if before is not None:
            to.write_bytes(before)


def test_the_contracts_hold(lint: Linter) -> None:
    linted = lint(ROOT)
    assert linted.returncode == 0, linted.said


def test_a_copy_holds_them_too(lint: Linter, copied: Path) -> None:
    """What breaks below is what was added, and is gone again afterwards."""
    linted = lint(copied)
    assert linted.returncode == 0, linted.said


def test_every_contract_is_tried() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert {contract["name"] for contract in contracts} == set(BREACHES)


@pytest.mark.parametrize(("name", "file", "content"), CASES, ids=[f"{n}-{f}" for n, f, _ in CASES])
def test_a_bad_import_breaks_its_contract(lint: Linter, copied: Path, name: str, file: str, content: str) -> None:
    with added(content, to=copied / file):
        linted = lint(copied)
    assert linted.returncode != 0
    said = " ".join(linted.said.split())
    if name.startswith("Rooms") and file == "shared/helpers.py":
        assert "helpers" in said
    else:
        assert f"{name} BROKEN" in said, linted.said
