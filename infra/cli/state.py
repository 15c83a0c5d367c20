"""Where a running gateway keeps what is its own: a directory, a lock on it, and the file that tells callers."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

HOME = Path(".kgw")
LOCAL = HOME / "local.json"
_RUN = "run-"
_HOME_LOCK = "here.lock"  # not the other one's name: `.kgw` itself may be named as the state directory
_LOCK = "lock"
# What a state directory holds: directories of its own, and files beside whatever else may lie there.
_DIRECTORIES = ("aws", "log", "secrets")
_FILES = (_LOCK, _HOME_LOCK, LOCAL.name, "demo.json", "nonces-*", ".new-*")
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class AlreadyRunning(Exception):
    """Another gateway holds the lock on this directory. The message says which one, and what to do."""


class Unusable(Exception):
    """Nothing can be kept in a directory. The message names it and says why."""


@contextlib.contextmanager
def only_one_here() -> Iterator[None]:
    """Has `.kgw` for this process alone, and rid of what a killed one left. Raises `AlreadyRunning`, `Unusable`."""
    with _locked(_made(HOME), _HOME_LOCK):
        for abandoned in HOME.glob(_RUN + "*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        yield


@contextlib.contextmanager
def state_directory(wanted: Path | None) -> Iterator[Path]:
    """The given directory, kept; or one under `.kgw` that ends with the command. Others may read nothing in it.

    Raises `AlreadyRunning`, `Unusable`.
    """
    if wanted is not None:
        with _locked(_made(wanted), _LOCK):
            yield _closed_to_others(wanted)
        return
    directory = _passing()
    try:
        yield _closed_to_others(directory)
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
def _locked(directory: Path, name: str) -> Iterator[None]:
    """The kernel frees the lock when the process ends, in whatever way; the file stays and holds the process's id."""
    local = directory / LOCAL.name
    try:
        lock = (directory / name).open("a+", encoding="utf-8")
    except OSError as error:
        raise _unusable(directory, error) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _sign(lock)
            local.unlink(missing_ok=True)  # of one that was killed: whoever reads it would call nobody
        except BlockingIOError:
            raise AlreadyRunning(_who_runs(directory, lock)) from None
        except OSError as error:
            raise _unusable(directory, error) from None
        yield


def _sign(lock: TextIO) -> None:
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()


def _who_runs(directory: Path, lock: TextIO) -> str:
    lock.seek(0)
    pid = lock.read(20).strip()
    local: Mapping[str, Any] = {}
    with contextlib.suppress(ValueError, OSError):
        local = read_json(directory / LOCAL.name) or {}
    who = f"The gateway at {local['url']}" if "url" in local else "Another kgw, which is starting or ending,"
    end = f"End it (kill {pid})" if pid.isdigit() else "End it"
    way_out = "start this one from" if directory == HOME else "give this one"
    return f"{who} uses {directory} already. {end}, or {way_out} another directory."


def _made(directory: Path) -> Path:
    """The directory, which is this user's own and nobody else's to write into."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = directory.stat()
    except OSError as error:
        raise _unusable(directory, error) from None
    if facts.st_uid != os.geteuid():
        raise Unusable(f"Cannot keep anything in {directory}: it belongs to another user.")
    if facts.st_mode & _OTHERS_WRITE:
        raise Unusable(f"Cannot keep anything in {directory}: others may write there. Use one that is yours alone.")
    return directory


def _passing() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix=_RUN, dir=HOME))
    except OSError as error:
        raise _unusable(HOME, error) from None


def _closed_to_others(directory: Path) -> Path:
    """Makes the directory's own directories, and takes from others what an earlier run left open to them."""
    try:
        for name in _DIRECTORIES:
            (directory / name).mkdir(mode=0o700, exist_ok=True)
        for path in _own(directory):
            mode = path.lstat().st_mode
            if mode & _OTHERS and not stat.S_ISLNK(mode):
                path.chmod(stat.S_IMODE(mode) & ~_OTHERS)
    except OSError as error:
        raise _unusable(directory, error) from None
    return directory.resolve()


def _own(directory: Path) -> Iterator[Path]:
    for name in _DIRECTORIES:
        yield directory / name
        yield from (directory / name).rglob("*")
    for pattern in _FILES:
        yield from directory.glob(pattern)


def _unusable(directory: Path, error: OSError) -> Unusable:
    reason = "it is not a directory" if isinstance(error, FileExistsError | NotADirectoryError) else error.strerror
    return Unusable(f"Cannot keep anything in {error.filename or directory}: {reason}.")
