"""Examines one provider: `run(url, secret)` is the whole suite."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable

from knowledge_conformance.client import Client
from knowledge_conformance.findings import Finding, Status
from knowledge_conformance.judging import Bench
from knowledge_conformance.observe import Unreachable, observe
from knowledge_conformance.registry import Check
from knowledge_conformance.report import Report
from knowledge_conformance.roots import ROOTS
from knowledge_conformance.scenarios.every import CHECKS
from knowledge_conformance.scenarios.memory import LATE, keep_for_later
from knowledge_conformance.subject import Secrets, Subject

__all__ = ["QUERIES", "TIME_S", "Interrupted", "NothingToJudge", "Report", "Unreachable", "run", "selected"]

QUERIES = ("help", "how", "information", "service", "the", "a")
TIME_S = 55.0
_ALONE = "load"  # many at once, and nothing else beside them


class NothingToJudge(ValueError):
    """What was asked for is no check, or none of this profile. The message is a sentence."""


class Interrupted(Exception):
    """Somebody ended the run. `report` has what was judged until then; all else is `not_run`."""

    def __init__(self, report: Report) -> None:
        super().__init__("interrupted")
        self.report = report


def selected(*, profile: str = "full", only: Collection[str] = ()) -> list[Check]:
    """The checks of a profile, or those alone that are named. Raises `NothingToJudge`."""
    if unknown := sorted(set(only) - CHECKS.keys()):
        raise NothingToJudge(f"There is no check {', '.join(unknown)}; --list shows all.")
    outside = [id_ for id_ in only if not CHECKS[id_].requirement.is_in(profile)]
    if outside:
        raise NothingToJudge(f"Not in profile {profile}: {', '.join(sorted(outside))}. --profile full has all.")
    return [each for each in CHECKS.values() if each.requirement.is_in(profile) and (not only or each.id in only)]


def run(
    url: str,
    secret: str,
    *,
    previous_secret: str | None = None,
    profile: str = "full",
    only: Collection[str] = (),
    queries: Iterable[str] = QUERIES,
    timeout_s: float = 10.0,
    time_s: float = TIME_S,
) -> Report:
    """Asks the provider at `url` and reports. `timeout_s` is for one answer, `time_s` for the whole run; a check for
    which no time is left is `not_run`, which is no pass. Raises `Unreachable`, `NothingToJudge` and, at Ctrl-C,
    `Interrupted`.
    """
    wanted = selected(profile=profile, only=only)
    secrets = Secrets(secret, previous_secret)
    return asyncio.run(_run(url.rstrip("/"), secrets, profile, wanted, tuple(queries), timeout_s, time_s))


async def _run(
    url: str,
    secrets: Secrets,
    profile: str,
    wanted: list[Check],
    queries: tuple[str, ...],
    timeout_s: float,
    time_s: float,
) -> Report:
    started = time.monotonic()
    async with Client(url, timeout_s=timeout_s) as client:
        subject = Subject(url, secrets, client, queries=queries)
        bench = Bench(subject, until=started + time_s)

        def report() -> Report:
            named = bench.named_by({each.id for each in wanted})
            shown = [each for each in CHECKS.values() if each in wanted or each.id in named]
            return Report(
                url=url,
                profile=profile,
                seconds=time.monotonic() - started,
                declared=subject.seen.declared,
                findings=tuple(bench.found.get(each.id, _unjudged(each)) for each in shown),
                pauses_s=tuple(subject.pauses_s),
            )

        try:
            await observe(subject)
            await _judge_all(bench, wanted)
        except asyncio.CancelledError:
            raise Interrupted(report()) from None
    return report()


async def _judge_all(bench: Bench, wanted: list[Check]) -> None:
    """First what can wait is sent; what has to wait is judged last, and last of all what judges every answer; who is
    slow is asked several things at once.
    """
    late = [each for each in wanted if each.id in LATE]
    alone = [each for each in wanted if each.requirement.scenario == _ALONE]
    last = [each for each in CHECKS.values() if each.id in ROOTS or (each.is_late and each in wanted)]
    early = [each for each in wanted if not any(each in others for others in (late, alone, last))]
    keeping = asyncio.create_task(keep_for_later(bench.subject, [each.id for each in late]))
    await bench.subject.each(bench.judge(each) for each in early)
    for each in alone:
        await bench.judge(each)
    await keeping
    await asyncio.gather(*(bench.judge(each) for each in late))
    for each in last:
        await bench.judge(each)
    bench.fold_unmarked()
    bench.fold_finer()
    bench.explain()


def _unjudged(each: Check) -> Finding:
    return Finding(each.id, Status.NOT_RUN, "the run was interrupted before it")
