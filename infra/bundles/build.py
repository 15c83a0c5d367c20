"""Builds one zip for each function, with the modules that it reaches and no other.

Every function's bundle is a file of its own, so the CDK has no directory and options from which it could conclude that
two functions share an asset. No container engine is needed.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from functions.assets.faces import face_files
from infra.bundles.archive import unzipped_bytes, write_zip
from infra.bundles.bytecode import compile_slim_tree, compiled
from infra.bundles.interpreters import VARIABLE, interpreter
from infra.bundles.reach import OWN
from infra.bundles.target import BUILD, ROOT, Target
from infra.bundles.wheels import installed_wheels

# What a function serves as it is: name in the bundle -> file of the project.
_PUBLISHED = (
    "openapi.json",
    "schemas/knowledge-provider/v1/request.schema.json",
    "schemas/knowledge-provider/v1/response.schema.json",
    "schemas/knowledge-provider/v1/capabilities.schema.json",
)
_FACES = [str(path.relative_to(ROOT)) for path in face_files()]
_TOOLS = "functions/mcp/static/tools.json"
STATIC = {
    "assets": {f"functions/assets/static/{name}": f"docs/{name}" for name in _PUBLISHED}
    | {name: name for name in _FACES},
    "mcp": {_TOOLS: _TOOLS},
}

# Beside a package's modules: its compiled extensions and the certificates it trusts.
_DATA = (".so", ".pem")
# This package reads its own source to find out which of its parts may be loaded later. Without it, it loads them all.
_READS_ITS_SOURCE = "anyio/"
_HERE = Path(__file__).parent


def build_bundles(names: Sequence[str], target: Target) -> dict[str, Path]:
    """The zip of each function. Prints the size of each, and a notice when no bytecode could be made."""
    python = interpreter(target.python_version)
    if python is None:
        print(
            f"No Python {target.python_version} found: the bundles carry no bytecode and start more slowly. "
            f"Set {VARIABLE} to an interpreter of that version.",
            file=sys.stderr,
        )
    wheels = installed_wheels(target, python)
    directory = BUILD / "bundles" / f"{target.runtime}-{target.architecture}"
    directory.mkdir(parents=True, exist_ok=True)
    modules = _reached(names, wheels)
    return {
        name: _build(name, modules[name], wheels=wheels, python=python, target=target, into=directory) for name in names
    }


def _reached(names: Sequence[str], wheels: Path) -> dict[str, list[str]]:
    command = [sys.executable, "-m", "infra.bundles.reach", str(wheels), *names]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise RuntimeError(f"The modules of {', '.join(names)} could not be read:\n{answer.stderr}")
    modules: dict[str, list[str]] = json.loads(answer.stdout)
    return modules


def _build(name: str, modules: Sequence[str], *, wheels: Path, python: Path | None, target: Target, into: Path) -> Path:
    """Made once for the same contents; a later deployment then uploads nothing."""
    own = sorted(_file_of(module, ROOT) for module in modules if module.split(".")[0] in OWN)
    foreign = sorted(_file_of(module, wheels) for module in modules if module.split(".")[0] not in OWN)
    static = {inside: ROOT / outside for inside, outside in STATIC.get(name, {}).items()}
    path = into / f"{name}-{_mark([*(ROOT / one for one in own), *static.values()], wheels, foreign)}.zip"
    if not path.exists():
        files = _own_files(own, python=python, target=target)
        files |= _foreign_files(foreign, wheels=wheels, python=python, target=target)
        files |= {inside: outside.read_bytes() for inside, outside in static.items()}
        unfinished = into / f"{name}.{os.getpid()}.part"
        write_zip(unfinished, files)
        unfinished.replace(path)
    size, packed = unzipped_bytes(path), path.stat().st_size
    print(f"bundle {name}: {size / 1e6:.2f} MB unzipped, {packed / 1e6:.2f} MB zipped", file=sys.stderr)
    return path


def _mark(sources: Sequence[Path], wheels: Path, foreign: Sequence[str]) -> str:
    """Of everything that a bundle is made from, this program included."""
    digest = hashlib.sha256("\n".join([wheels.name, *foreign]).encode())
    for source in [*sources, *sorted(_HERE.glob("*.py"))]:
        digest.update(f"\n{source.relative_to(ROOT)}\n".encode() + source.read_bytes())
    return digest.hexdigest()[:16]


def _own_files(names: Sequence[str], *, python: Path | None, target: Target) -> dict[str, bytes]:
    """Bytecode in the place of our modules: what is logged of a fault names file and line, and never quotes it."""
    sources = {relative: (ROOT / relative).read_bytes() for relative in names}
    if python is None:
        return sources
    with tempfile.TemporaryDirectory() as made:
        for relative, source in sources.items():
            (Path(made) / relative).parent.mkdir(parents=True, exist_ok=True)
            (Path(made) / relative).write_bytes(source)
        compile_slim_tree(Path(made), python)
        return {
            f"{relative}c": compiled(Path(made) / relative, target.python_version).read_bytes() for relative in sources
        }


def _foreign_files(names: Sequence[str], *, wheels: Path, python: Path | None, target: Target) -> dict[str, bytes]:
    """Bytecode alone, as of our own, which halves the bundle; source when there is no bytecode."""
    files: dict[str, bytes] = {}
    for relative in names:
        if python is None:
            files[relative] = (wheels / relative).read_bytes()
        else:
            files |= _bytecode(relative, wheels=wheels, target=target)
    for directory in {Path(relative).parent for relative in files}:
        if directory != Path("."):
            files |= {str(directory / p.name): p.read_bytes() for p in _data(wheels / directory)}
    return files


def _bytecode(relative: str, *, wheels: Path, target: Target) -> dict[str, bytes]:
    """Beside its source where that is read, else in the place of it."""
    bytecode = compiled(wheels / relative, target.python_version)
    if relative.startswith(_READS_ITS_SOURCE) and relative.endswith("/__init__.py"):
        source = wheels / relative
        return {relative: source.read_bytes(), str(bytecode.relative_to(wheels)): bytecode.read_bytes()}
    return {relative + "c": bytecode.read_bytes()}


def _data(directory: Path) -> list[Path]:
    return [path for path in directory.iterdir() if path.suffix in _DATA]


def _file_of(module: str, base: Path) -> str:
    """Where a module lies under `base`, as a relative path."""
    path = Path(*module.split("."))
    package = path / "__init__.py"
    return str(package if (base / package).exists() else path.with_suffix(".py"))
