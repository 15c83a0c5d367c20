"""What may surprise whoever imports keys out of a .env file. Names alone, never a value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from infra.cli.env_files import EnvFile
from infra.cli.key_changes import ACCOUNT, is_name
from shared.domain.pools import KEY_NAME

_NUMBERED = re.compile(r"_[0-9]+", re.ASCII)
_REFERENCE = re.compile(r"\$(?:\{[A-Za-z_]|[A-Za-z_])", re.ASCII)


def notes(file: EnvFile) -> Iterator[str]:
    """In the order of the file."""
    for name in file.values:
        base = _base_of(name)
        if base is None:
            continue
        if not is_name(name.removesuffix(ACCOUNT), base):
            yield f"{name} is not taken: a number goes from 1 to 999999 and does not begin with 0"
            continue
        if name in file.repeated:
            yield f"{name} stands there more than once, and the last one counts"
        if _REFERENCE.search(file.values[name]):
            yield f"{name} holds a $ before a name: it is taken as it stands, nothing is put in for it"


def _base_of(name: str) -> str | None:
    """The pool's name that this one begins with, when only a number follows."""
    key_name = name.removesuffix(ACCOUNT)
    for base in KEY_NAME.values():
        rest = key_name.removeprefix(base)
        if key_name.startswith(base) and (not rest or _NUMBERED.fullmatch(rest)):
            return base
    return None
