"""What is asked of whoever sits at the terminal, and what is taken off standard input in their place."""

from __future__ import annotations

import os
import sys
from typing import Final

from infra.cli.ending import Told, WrongUse
from infra.cli.http import is_visible
from infra.cli.terminal import ask, ask_secretly, is_terminal

_MOST_CHARACTERS: Final = 4_096


class NotGiven(Told):
    """A secret that is missing, or cannot be one. The message names where it was looked for, and shows none of it."""


def confirm(question: str, *, is_agreed: bool) -> None:
    """Asks, unless it is agreed beforehand. Raises `WrongUse` where nobody can be asked, `Told` for a no."""
    if is_agreed:
        return
    if not is_terminal(sys.stdin):
        raise WrongUse("This cannot be undone and wants a confirmation: run it at a terminal, or say --yes")
    ask(f"{question} [y/N]")
    if _piped().strip().lower() not in ("y", "yes"):
        raise Told("Nothing was done.")


def secret(what: str, *, variable: str | None = None) -> str:
    """Out of an environment variable, or off standard input; at a terminal it is asked for and not shown. `what` begins
    a sentence. Raises `NotGiven`.
    """
    if variable is not None:
        return _checked(os.environ.get(variable, ""), f"The environment variable {variable}")
    if is_terminal(sys.stdin):
        return _checked(ask_secretly(f"{what} (it is not shown):"), what)
    return _checked(_piped(), "Standard input")


def _piped() -> str:
    try:
        return "" if sys.stdin is None else sys.stdin.readline(_MOST_CHARACTERS)
    except UnicodeDecodeError:
        raise NotGiven("Standard input holds no text.") from None


def _checked(text: str, where: str) -> str:
    given = text.strip()
    if not given:
        raise NotGiven(f"{where} is empty.")
    if not is_visible(given):
        raise NotGiven(f"{where} holds something that cannot be sent: blanks, or other signs than ASCII.")
    return given
