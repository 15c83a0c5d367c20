"""What a search opens with is lost, and found again."""

from __future__ import annotations

from shared.errors import Unavailable
from tests.support.search_stage import Answered, Stage

HEADER = "X-Knowledge-Degraded"
AWAY = Unavailable(retry_after_s=5)


def lose(stage: Stage, *parts: str) -> None:
    """Of the opening; without parts, everything that lies in the store."""
    for part in parts or ("credentials", "rate_limits", "catalog", "customer_catalog"):
        getattr(stage, part).failure = AWAY
    if not parts:
        for circuits in stage.circuits.values():
            circuits.failure = AWAY


def find(stage: Stage) -> None:
    for part in ("credentials", "rate_limits", "catalog", "customer_catalog"):
        getattr(stage, part).failure = None


def titles(answer: Answered) -> list[str]:
    assert answer.status == 200, answer.text
    return [result["title"] for result in answer.json["results"]]


def is_refused(answer: Answered) -> bool:
    """503 with the time to come back, and nothing else."""
    if answer.status != 503:
        return False
    assert answer.json["code"] == "store_unavailable"
    assert int(answer.headers["Retry-After"]) >= 1
    assert HEADER not in answer.headers
    return True
