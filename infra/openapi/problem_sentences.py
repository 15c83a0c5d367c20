"""The words of one problem."""

from __future__ import annotations

from typing import NamedTuple


class ProblemWords(NamedTuple):
    status: int
    happened: str
    advice: str
