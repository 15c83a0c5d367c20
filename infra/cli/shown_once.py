"""Secrets that the gateway shows once: onto a terminal, into JSON that was asked for, or into a file."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from infra.cli.ending import Told, WrongUse
from infra.cli.output import Json
from infra.cli.state import write_private_text
from infra.cli.terminal import note, shows_answers


def check_place(options: argparse.Namespace) -> None:
    """Before anything is made, since it is shown only once. Raises `WrongUse`."""
    file: Path | None = options.secret_to
    if file is not None:
        _check_file(file)
    elif not options.as_json and not shows_answers():
        raise WrongUse(
            "The answer holds a secret, and standard output is no terminal: say --secret-to FILE, or --json to have it "
            "in the answer. Nothing was done."
        )


def put_away(told: Json, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """The answer as it is shown: with `secretFile` in its place where it went into a file. Raises `Told`."""
    shown, value = dict(told), told[name]
    if value is None:
        note("kgw: The secret was in an answer that did not come, and is not shown again: rotate it to have another.")
        return shown
    if (file := options.secret_to) is not None:
        _write(str(value), file, str(told["id"]))
        del shown[name]
        return shown | {"secretFile": str(file)}
    if not options.as_json:
        note(f"kgw: {name} is shown this once. Keep it now: later nobody can read it.")
    return shown


def _check_file(file: Path) -> None:
    if file.is_dir() or not file.parent.is_dir() or not os.access(file.parent, os.W_OK | os.X_OK):
        raise WrongUse(f"{file} cannot be written. Nothing was done.")


def _write(value: str, file: Path, owner: str) -> None:
    try:
        write_private_text(file, value + "\n")
    except OSError as error:
        raise Told(
            f"{file} cannot be written: {error.strerror}. The secret of {owner} is lost: rotate it to have another."
        ) from None
