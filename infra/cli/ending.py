"""How a command ends: with a status and a sentence, whatever happens. A traceback may show what must not be shown."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from infra.cli import terminal

FAILED: Final = 1
WRONG_USE: Final = 2
NOT_WELL: Final = 3  # what was looked at, or tested, is not as it should be
INTERRUPTED: Final = 130
CUT_OFF: Final = 141  # what a shell says of a command whose reader has gone: 128 and SIGPIPE
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_ROOT: Final = Path(__file__).resolve().parents[2]


class Told(Exception):
    """A failure with words that may be shown. `exit_status` is what the command ends with."""

    exit_status = FAILED
    code = "failed"  # for programs

    def as_json(self) -> dict[str, Any]:
        """For programs: a `code` and a `detail`, and what else is known."""
        return {"code": self.code, "detail": str(self)}

    def told(self) -> list[str]:
        """For people, in lines."""
        return [str(self)]


class WrongUse(Told):
    """It was not asked as it has to be, and nothing was done."""

    exit_status = WRONG_USE
    code = "wrong_use"


def ended(run: Callable[[], int], *, name: str, is_json: bool = False) -> int:
    """The exit status of `run`. What is `Told` is told; of what nobody has foreseen the kind and the place are, and
    none of its words. With `is_json` that is a document on standard output too, where `run` has printed nothing.
    """
    terminal.begin(is_json=is_json)
    try:
        try:
            return _answered(run)
        finally:
            terminal.flush()  # what cannot be written any more is found here, not when Python has ended
    except BrokenPipeError:
        terminal.forget()
        return CUT_OFF
    except KeyboardInterrupt as interrupted:
        if str(interrupted):  # what is known of what was under way
            _tell(name, str(interrupted))
        return INTERRUPTED
    except Told as error:
        _tell(name, *error.told())
        return error.exit_status
    except Exception as error:  # noqa: BLE001  # whatever it is: its words may be a token
        terminal.forget()
        _tell(name, _foreign(error))
    return FAILED


def _answered(run: Callable[[], int]) -> int:
    """Raises what `run` raises, after it was said to programs."""
    try:
        return run()
    except Told as error:
        terminal.say_failure(error.as_json)
        raise
    except KeyboardInterrupt as interrupted:
        detail = str(interrupted) or "Interrupted."
        terminal.say_failure(lambda: {"code": "interrupted", "detail": detail})
        raise


def _foreign(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        return f"It cannot be written: {os.strerror(error.errno)}."
    return f"Something went wrong that nobody has foreseen: {type(error).__name__} at {_place(error)}."


def _place(error: Exception) -> str:
    """The last line of this project that it came through."""
    place, at = "an unknown place", error.__traceback__
    while at is not None:
        path = Path(at.tb_frame.f_code.co_filename)
        if path.is_relative_to(_ROOT) and "site-packages" not in path.parts:
            place = f"{path.relative_to(_ROOT)}:{at.tb_lineno}"
        at = at.tb_next
    return place


def _tell(name: str, first: str, *others: str) -> None:
    with contextlib.suppress(OSError):
        terminal.note(f"{name}: {first}", *others)
