"""Secrets that the gateway shows once: onto a terminal, into JSON that was asked for, or into a file or pipe that is
open before anything is made.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from infra.cli.ending import FAILED, WrongUse
from infra.cli.secret_files import CannotKeep, SecretFile, opened
from infra.cli.terminal import is_open, note, shows_answers

# What makes another one, by the name of the secret in an answer.
_AGAIN: Final = {"token": "kgw credentials rotate", "secret": "kgw providers rotate"}


@contextlib.contextmanager
def place_of(options: argparse.Namespace) -> Iterator[SecretFile | None]:
    """Open before anything is made; None where it is shown. Raises `WrongUse`."""
    file: Path | None = options.secret_to
    if file is None:
        if not (shows_answers() or (options.as_json and is_open())):
            raise WrongUse(
                "The answer holds a secret, and standard output is no terminal: say --secret-to FILE, or --json to "
                "have it in the answer. Nothing was done."
            )
        yield None
        return
    with opened(file) as place:
        yield place


def put_away(
    made: Mapping[str, Any], name: str, place: SecretFile | None, *, as_json: bool
) -> tuple[dict[str, Any], int]:
    """The answer as it is shown, with `secretFile` in the place of a secret that went into a file; and the exit status,
    which is that of a failure where it did not come to where it was to go.
    """
    told = dict(made)
    value, again = told[name], f"{_AGAIN[name]} {told['id']}"
    if value is None:
        note(f"kgw: The secret was shown before, or was in an answer that did not come: {again} makes another.")
        return told, FAILED if place else 0
    if place is None:
        if not as_json:
            note(f"kgw: {name} is shown this once. Keep it now: later nobody can read it.")
        return told, 0
    try:
        place.keep(str(value))
    except CannotKeep as error:
        return _not_kept(told, name, f"kgw: {error}", again)
    del told[name]
    return told | {"secretFile": str(place.path)}, 0


def _not_kept(told: dict[str, Any], name: str, why: str, again: str) -> tuple[dict[str, Any], int]:
    """On a terminal it is shown after all: nobody else has it."""
    if shows_answers():
        note(f"{why} {name} is shown here instead, this once. Keep it now.")
        return told, FAILED
    note(f"{why} The secret is lost: {again} makes another.")
    del told[name]
    return told, FAILED
