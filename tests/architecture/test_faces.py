"""What browsers are served is built from the sources beside it, which hold to strict types and to the published API."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from functions.assets.faces import STATIC, face_files
from infra.node import NODE

ROOT = Path(__file__).resolve().parents[2]
FACES = ROOT / "infra" / "faces"
KEPT_RELEASE = "widget/v1/knowledge-search.*.js"


def run(program: str, *arguments: str) -> str:
    """A program of `infra/faces`, which `make` installs. What it says."""
    script = FACES / program
    assert script.is_file(), f"{script} is missing: run `make faces`"
    done = subprocess.run(
        [str(NODE), str(script), *arguments], cwd=FACES, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def contents(directory: Path) -> dict[str, bytes]:
    files = {str(path.relative_to(directory)): path for path in face_files(directory)}
    return {name: path.read_bytes() for name, path in files.items() if not Path(name).match(KEPT_RELEASE)}


def test_what_is_served_is_what_the_sources_build(tmp_path: Path) -> None:
    run("build.mjs", str(tmp_path))

    built, served = contents(tmp_path), contents(STATIC)
    assert built.keys() == served.keys()
    assert [name for name in built if built[name] != served[name]] == [], "run `make faces`"
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} == built.keys()


@pytest.mark.parametrize("face", ["widget", "console"])
def test_a_face_holds_to_strict_types(face: str) -> None:
    assert run("node_modules/typescript/bin/tsc", "--noEmit", "-p", face) == ""


def test_the_consoles_types_are_those_of_the_published_document(tmp_path: Path) -> None:
    """Made by the same command as `npm run types`, which names the committed file at its end."""
    command: str = json.loads((FACES / "package.json").read_text())["scripts"]["types"]
    _, *options, target = command.split()
    run("node_modules/openapi-typescript/bin/cli.js", *options, str(tmp_path / "api.d.ts"))
    assert (tmp_path / "api.d.ts").read_bytes() == (FACES / target).read_bytes(), "run `make faces`"


def test_nothing_in_the_lock_file_says_where_packages_were_fetched() -> None:
    assert "resolved" not in (FACES / "package-lock.json").read_text()
