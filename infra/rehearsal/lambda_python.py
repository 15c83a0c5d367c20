"""The Python that stands in for the Lambda runtime: an interpreter, and beside it what the runtime ships, no more.

A package that is missing in a bundle is therefore missing in the rehearsal too.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from infra.bundles.interpreters import interpreter
from infra.bundles.target import BUILD, Target
from infra.bundles.wheels import LOCK, SHIPPED_BY_RUNTIME, lock_entries, requirement_of, settle


@dataclass(frozen=True, slots=True)
class LambdaPython:
    """`runtime` is its Lambda name; `executable` runs functions of it."""

    runtime: str
    executable: Path

    @property
    def version(self) -> str:
        return self.runtime.removeprefix("python")


def lambda_python() -> LambdaPython:
    """The runtime that ships where its Python is installed, else that of this very interpreter."""
    shipping = Target()
    python = interpreter(shipping.python_version)
    if python is not None:
        return LambdaPython(shipping.runtime, _environment(python))
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    print(f"No Python {shipping.python_version} found: rehearsing with {own}.", file=sys.stderr)
    return LambdaPython(f"python{own}", _environment(Path(sys.executable)))


def _environment(python: Path) -> Path:
    """Made once for an interpreter and a lock file."""
    shipped = "\n".join(_shipped_by_runtime())
    mark = hashlib.sha256(f"{python}\n{shipped}".encode()).hexdigest()[:16]
    directory = BUILD / "lambda-python" / mark
    executable = directory / "bin" / "python"
    if executable.exists():
        return executable
    directory.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=directory.parent))
    subprocess.run([str(python), "-m", "venv", "--without-pip", str(made)], check=True)
    requirements = made / "requirements.txt"
    requirements.write_text(shipped)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    what = ["--no-deps", "--require-hashes", "--only-binary=:all:", "-r", str(requirements)]
    subprocess.run([*pip, *what, "--target", str(next(made.glob("lib/python*/site-packages")))], check=True)
    settle(made, directory)
    return executable


def _shipped_by_runtime() -> list[str]:
    entries = lock_entries(LOCK.read_text())
    return [one for one in entries if canonicalize_name(requirement_of(one).name) in SHIPPED_BY_RUNTIME]
