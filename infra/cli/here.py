"""What the gateway that runs in this directory has written for whoever works there.

Whoever puts a file into a directory shall not be told what is sent from there: it is believed only when it, and the
directory that it lies in, is this user's own and nobody else's to write into, and an address in it only when it is of
this machine.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from infra.cli.ending import Told
from infra.cli.http import Client, Unsendable, is_visible
from infra.cli.state import LOCAL

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_MOST_BYTES: Final = 1_048_576
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class NoAccess(Told):
    """The message says what is missing or cannot be used, and shows none of it."""


def local_access() -> Mapping[str, Any]:
    """All that is written there; empty where no gateway runs. Raises `NoAccess`."""
    try:
        text = _own_text()
        value = {} if text is None else json.loads(text)
    except (ValueError, OSError, RecursionError):
        raise NoAccess(f"{LOCAL} cannot be read.") from None
    if not isinstance(value, dict):
        raise NoAccess(f"{LOCAL} cannot be read.")
    return value


def client_here(url: object, token: object, *, token_in: str = "") -> Client:
    """To an address that is written there. Raises `NoAccess` for one that is none, or not of this machine."""
    try:
        client = Client(str(url), str(token))
    except Unsendable as wrong:
        raise NoAccess(f"{token_in if wrong.is_token else f'The url in {LOCAL}'} {wrong}") from None
    if urlsplit(client.url).hostname not in LOOPBACK:
        raise NoAccess(f"The url in {LOCAL} is not of this machine.")
    return client


def origin_here() -> str:
    """Where the widget of the gateway that runs here is shown. Raises `NoAccess`."""
    origin = str(local_access().get("origin", ""))
    if not is_visible(origin):
        raise NoAccess(f"There is no origin in {LOCAL} that can be sent.")
    return origin


def _own_text() -> str | None:
    """The very file that was judged is read, and no link is followed to it. Raises `NoAccess`, OSError, ValueError."""
    try:
        descriptor = os.open(LOCAL, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        facts = os.fstat(descriptor)
        _check(facts)
        _check(LOCAL.parent.stat())
        if not stat.S_ISREG(facts.st_mode):
            raise ValueError("no file")
        return os.read(descriptor, _MOST_BYTES).decode()
    finally:
        os.close(descriptor)


def _check(facts: os.stat_result) -> None:
    if facts.st_uid != os.geteuid():
        raise NoAccess(f"{LOCAL} cannot be used: it belongs to another user.")
    if facts.st_mode & _OTHERS_WRITE:
        raise NoAccess(f"{LOCAL} cannot be used: others may write to it, or to {LOCAL.parent}.")
