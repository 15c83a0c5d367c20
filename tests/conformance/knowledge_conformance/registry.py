"""All checks by id. What the frozen requirements do not name cannot be checked, and the other way round."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum

from knowledge_conformance.requirements import Requirement, requirements
from knowledge_conformance.subject import Subject

Judge = Callable[[Subject], Awaitable[str]]


class Need(Enum):
    """What has to be there before a check can judge."""

    NOTHING = "nothing"
    GENUINE = "genuine"  # a genuine request was answered with 200
    ANSWERS = "answers"  # and some answer is a JSON object
    RESULTS = "results"  # and some answer has results


@dataclass(frozen=True, slots=True)
class Check:
    """`judge` answers what was seen, or raises `Failed` or `Skipped`. `fix` says what to do about a failure. One that
    is late sends nothing, and judges all answers that ever came: it has its turn when all others had theirs.
    """

    requirement: Requirement
    title: str
    fix: str
    need: Need
    is_late: bool
    judge: Judge

    @property
    def id(self) -> str:
        return self.requirement.id


CHECKS: dict[str, Check] = {}


def check(
    id_: str, title: str, *, fix: str, need: Need = Need.GENUINE, is_late: bool = False
) -> Callable[[Judge], Judge]:
    """Registers what it decorates. Raises `KeyError` for an id that is no requirement."""

    def register(judge: Judge) -> Judge:
        CHECKS[id_] = Check(requirements()[id_], title, fix, need, is_late, judge)
        return judge

    return register
