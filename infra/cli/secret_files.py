"""A file or pipe for one secret, open before there is a secret to lose."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from infra.cli.ending import WrongUse

_ROOM_BYTES = 4_096  # more than a secret takes


class CannotKeep(Exception):
    """The message says where, and why."""


@dataclass(frozen=True, slots=True)
class SecretFile:
    """`made` is the file that takes the place of `path` once the secret is in it; None where `path` is written into."""

    path: Path
    descriptor: int
    made: Path | None

    def keep(self, value: str) -> None:
        """Raises `CannotKeep`."""
        try:
            self._write(f"{value}\n".encode())
            if self.made is not None:
                os.fsync(self.descriptor)
                self.made.replace(self.path)
        except OSError as error:
            raise CannotKeep(f"{self.path} cannot be written: {error.strerror}.") from None

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self.descriptor, data) :]
        if self.made is not None:
            os.ftruncate(self.descriptor, os.lseek(self.descriptor, 0, os.SEEK_CUR))


@contextlib.contextmanager
def opened(path: Path) -> Iterator[SecretFile]:
    """A file for its owner alone, which takes the place of one that is there only with the secret in it; a pipe, which
    somebody reads, or a terminal is written into. Raises `WrongUse` for everything else.
    """
    try:
        place = _opened(path)
    except OSError as error:
        why = "nobody reads from it" if error.errno == errno.ENXIO else error.strerror
        raise WrongUse(f"{path} cannot be written: {why}. Nothing was done.") from None
    try:
        yield place
    finally:
        os.close(place.descriptor)
        if place.made is not None:
            place.made.unlink(missing_ok=True)


def _opened(path: Path) -> SecretFile:
    mode = path.stat().st_mode if path.exists() else None
    if mode is not None and (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
        return SecretFile(path, _opened_pipe(path), None)
    if path.is_symlink() or not (mode is None or stat.S_ISREG(mode)):
        raise WrongUse(f"{path} is a link, or no file: a secret is written into none. Nothing was done.")
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")  # made with mode 0600
    with _removed_on_failure(descriptor, Path(name)):
        os.posix_fallocate(descriptor, 0, _ROOM_BYTES)  # a full disk is found now
    return SecretFile(path, descriptor, Path(name))


def _opened_pipe(path: Path) -> int:
    """What is opened is what is judged. It is not waited for a reader, but for room."""
    descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    if not (stat.S_ISFIFO(os.fstat(descriptor).st_mode) or os.isatty(descriptor)):
        os.close(descriptor)
        raise WrongUse(f"{path} is a device that keeps nothing. Nothing was done.")
    os.set_blocking(descriptor, True)
    return descriptor


@contextlib.contextmanager
def _removed_on_failure(descriptor: int, made: Path) -> Iterator[None]:
    try:
        yield
    except OSError:
        os.close(descriptor)
        made.unlink(missing_ok=True)
        raise
