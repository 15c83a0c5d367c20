"""Gateways that were logged in to, with their tokens, in one file that its owner alone may read."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from infra.cli.ending import Told
from infra.cli.state import write_private

USUAL: Final = "default"
CALLERS: Final = {"adm": "admin", "agt": "agent"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", re.ASCII)
_MOST_BYTES: Final = 1_048_576
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_AGAIN: Final = "Remove it, and log in again: kgw login URL"


class NoProfile(Told):
    """The message says which file or profile cannot be used and why, and shows nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A token and what is known of its credential. `origin` is the only place that it may be sent to."""

    token: str = field(repr=False)
    origin: str
    credential: str
    expires_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """`tokens` by who is asked as: `admin`, `agent`."""

    name: str
    url: str
    tokens: Mapping[str, Held]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiles:
    by_name: Mapping[str, Profile] = field(default_factory=dict)
    usual: str | None = None

    def named(self, name: str) -> Profile:
        """Raises `NoProfile`."""
        if name not in self.by_name:
            known = ", ".join(self.by_name) or "none"
            raise NoProfile(f"There is no such profile; there are: {known}. Log in first: kgw login URL --profile NAME")
        return self.by_name[name]

    def having(self, profile: Profile) -> Profiles:
        """With this one instead of the one of its name. The first one is the usual one."""
        return replace(self, by_name={**self.by_name, profile.name: profile}, usual=self.usual or profile.name)

    def without(self, name: str) -> Profiles:
        left = {each: profile for each, profile in self.by_name.items() if each != name}
        return replace(self, by_name=left, usual=None if self.usual == name else self.usual)


def file_of_profiles() -> Path:
    """Under `XDG_CONFIG_HOME`, where that is an absolute path, else under `~/.config`."""
    named = os.environ.get("XDG_CONFIG_HOME", "")
    home = Path(named) if named.startswith("/") else Path.home() / ".config"
    return home / "kgw" / "profiles.json"


def origin_of(url: str) -> str:
    """Scheme, host and port, by which one place is told from another."""
    address = urlsplit(url)
    port = address.port or {"https": 443, "http": 80}.get(address.scheme, 0)
    return f"{address.scheme}://{(address.hostname or '').lower()}:{port}"


def checked_name(name: str) -> str:
    """Raises `NoProfile`."""
    if not _NAME.fullmatch(name):
        raise NoProfile("A profile is named with 1 to 64 letters, digits, dots, dashes and underscores.")
    return name


def read_profiles() -> Profiles:
    """None where nobody has logged in. Raises `NoProfile` for what others could have written or read, or is none."""
    path = file_of_profiles()
    text = _own_text(path)
    if text is None:
        return Profiles()
    try:
        return _read(json.loads(text))
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise NoProfile(f"{path} does not hold profiles. {_AGAIN}") from None


@contextlib.contextmanager
def changing() -> Iterator[None]:
    """One change at a time: what two terminals log in to is both kept. Raises `NoProfile`."""
    directory = file_of_profiles().parent
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise NoProfile(f"Nothing can be kept in {directory}: {error.strerror}.") from None
    try:
        _check_owner(directory, os.fstat(descriptor), forbidden=_OTHERS_WRITE)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_profiles(profiles: Profiles) -> Path:
    """All of it or nothing, for its owner alone. Returns where. Raises `NoProfile`."""
    path = file_of_profiles()
    try:
        write_private(path, _written(profiles))
    except OSError as error:
        raise NoProfile(f"{path} cannot be written: {error.strerror}.") from None
    return path


def _own_text(path: Path) -> str | None:
    """No link is followed, and the very file that was judged is read. Raises `NoProfile`."""
    try:
        _check_owner(path.parent, path.parent.stat(), forbidden=_OTHERS_WRITE)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        why = "it is a symbolic link" if path.is_symlink() else error.strerror
        raise NoProfile(f"{path} cannot be used: {why}.") from None
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise NoProfile(f"{path} cannot be used: it is no file.")
        _check_owner(path, facts, forbidden=_OTHERS)
        return os.read(descriptor, _MOST_BYTES).decode()
    except UnicodeDecodeError:
        raise NoProfile(f"{path} does not hold profiles. {_AGAIN}") from None
    finally:
        os.close(descriptor)


def _check_owner(path: Path, facts: os.stat_result, *, forbidden: int) -> None:
    if facts.st_uid != os.geteuid():
        raise NoProfile(f"{path} cannot be used: it belongs to another user.")
    if facts.st_mode & forbidden:
        what, mode = ("write to", "go-w") if forbidden == _OTHERS_WRITE else ("read", "go-rwx")
        raise NoProfile(f"{path} cannot be used: others may {what} it. Close it first: chmod {mode} {path}")


def _read(value: Mapping[str, Any]) -> Profiles:
    """Raises whatever reading something else raises."""
    profiles = {str(name): _profile(str(name), each) for name, each in value["profiles"].items()}
    usual = value["default"]
    if usual is not None and usual not in profiles:
        raise ValueError("the default is no profile")
    return Profiles(by_name=profiles, usual=usual)


def _profile(name: str, value: Mapping[str, Any]) -> Profile:
    if not (_NAME.fullmatch(name) and isinstance(value["url"], str)):
        raise ValueError("no profile")
    tokens = {str(caller): _held(each) for caller, each in value["tokens"].items()}
    return Profile(name=name, url=value["url"], tokens=tokens)


def _held(value: Mapping[str, Any]) -> Held:
    held = Held(
        token=value["token"], origin=value["origin"], credential=value["credential"], expires_at=value["expiresAt"]
    )
    if not all(isinstance(each, str) for each in (held.token, held.origin, held.credential, held.expires_at or "")):
        raise TypeError("no token")
    return held


def _written(profiles: Profiles) -> dict[str, Any]:
    return {
        "default": profiles.usual,
        "profiles": {
            name: {
                "url": each.url,
                "tokens": {
                    caller: {
                        "token": held.token,
                        "origin": held.origin,
                        "credential": held.credential,
                        "expiresAt": held.expires_at,
                    }
                    for caller, held in each.tokens.items()
                },
            }
            for name, each in profiles.by_name.items()
        },
    }
