"""What must hold before something is changed: it exists, and nobody has changed it since it was read."""

from __future__ import annotations

from typing import TypeVar

from shared.errors import NotFound, PreconditionFailed

Thing = TypeVar("Thing")


def existing(thing: Thing | None) -> Thing:
    """Raises `NotFound`, in the same words for everything that is not there."""
    if thing is None:
        raise NotFound("Nothing here has this id.")
    return thing


def check_generation(actual: int, expected: int | None) -> None:
    """`expected` is None where the caller named no generation. Raises `PreconditionFailed`."""
    if expected is not None and actual != expected:
        raise PreconditionFailed("Read it again and repeat the change with the new ETag.")
