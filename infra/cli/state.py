"""Where a running gateway keeps what is its own: a directory, a lock on it, and the file that tells callers."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HOME = Path(".kgw")
LOCAL = HOME / "local.json"
_RUN = "run-"
_LOCK = "lock"


class AlreadyRunning(Exception):
    """Another gateway holds the lock on this directory."""


@contextlib.contextmanager
def state_directory(wanted: Path | None) -> Iterator[Path]:
    """The given directory, kept; or one under `.kgw` that ends with the command. Raises `AlreadyRunning`."""
    HOME.mkdir(mode=0o700, exist_ok=True)
    if wanted is not None:
        wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(wanted):
            yield wanted.resolve()
        return
    _remove_abandoned()
    directory = Path(tempfile.mkdtemp(prefix=_RUN, dir=HOME))
    try:
        with _locked(directory):
            yield directory.resolve()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def write_private(path: Path, content: Mapping[str, Any]) -> None:
    """Writes JSON that only its owner may read, all of it or nothing."""
    write_private_text(path, json.dumps(content, indent=2) + "\n")


def write_private_text(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")  # made with mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in a file, or None where there is no such file. Raises `ValueError` for anything else in it."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    if not isinstance(value, dict):
        raise ValueError(f"{path} does not hold a JSON object")
    return value


def remove_if_own(path: Path, content: Mapping[str, Any]) -> None:
    """Removes the file unless another gateway has written its own by now."""
    with contextlib.suppress(ValueError, OSError):
        if read_json(path) == dict(content):
            path.unlink()


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    with (directory / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(f"Another kgw runs with the state directory {directory}.") from None
        yield


def _remove_abandoned() -> None:
    """Directories whose command was killed: nobody holds their lock."""
    for directory in HOME.glob(_RUN + "*"):
        with contextlib.suppress(AlreadyRunning, OSError), _locked(directory):
            shutil.rmtree(directory, ignore_errors=True)
