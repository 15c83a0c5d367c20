"""Finding a Python of a given version on this machine. Bytecode of another version would not be loaded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

VARIABLE = "KG_LAMBDA_PYTHON"


def interpreter(python_version: str) -> Path | None:
    """The first that really is `python_version` ("3.13"): the one KG_LAMBDA_PYTHON names, this one, one on PATH, one of
    pyenv's. None when there is none.
    """
    return next((path for path in _candidates(python_version) if _version_of(path) == python_version), None)


def _candidates(python_version: str) -> Iterator[Path]:
    named = os.environ.get(VARIABLE)
    if named:
        yield Path(named)
    yield Path(sys.executable)
    on_path = shutil.which(f"python{python_version}")
    if on_path:
        yield Path(on_path)
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    yield from sorted(pyenv.glob(f"versions/{python_version}.*/bin/python{python_version}"), reverse=True)


def _version_of(path: Path) -> str | None:
    """`3.13`, or None for what does not run (a shim of a version that is not switched on, say)."""
    command = [str(path), "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
