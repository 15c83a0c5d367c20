"""Examines one provider: `run(url, secret)` is the whole suite."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable

from knowledge_conformance.client import Client
from knowledge_conformance.findings import Failed, Finding, Skipped, Status
from knowledge_conformance.observe import Unreachable, observe
from knowledge_conformance.registry import Check, Need
from knowledge_conformance.report import Report
from knowledge_conformance.scenarios.every import CHECKS
from knowledge_conformance.subject import Secrets, Subject

__all__ = ["QUERIES", "TIME_S", "Report", "Unreachable", "run"]

QUERIES = ("help", "how", "information", "service", "the", "a")
TIME_S = 55.0
_WORKERS = 16  # who is slow is asked several things at once, so that the run ends in time
_ALONE = "load"  # many at once, and nothing else beside them
_UNMET = {
    Need.GENUINE: "no genuine request was answered with 200; another check says why",
    Need.ANSWERS: "no answer could be read; another check says why",
    Need.RESULTS: "no result was seen; see results.found",
}


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
    which no time is left is `not_run`, which is no pass. Raises `Unreachable`.
    """
    secrets = Secrets(secret, previous_secret)
    return asyncio.run(_run(url.rstrip("/"), secrets, profile, frozenset(only), tuple(queries), timeout_s, time_s))


async def _run(
    url: str,
    secrets: Secrets,
    profile: str,
    only: frozenset[str],
    queries: tuple[str, ...],
    timeout_s: float,
    time_s: float,
) -> Report:
    started = time.monotonic()
    async with Client(url, timeout_s=timeout_s) as client:
        subject = Subject(url, secrets, client, queries=queries)
        await observe(subject)
        wanted = [each for each in CHECKS.values() if each.requirement.is_in(profile) and (not only or each.id in only)]
        findings = await _judged(subject, wanted, until=started + time_s)
    return Report(
        url=url,
        profile=profile,
        seconds=time.monotonic() - started,
        declared=subject.seen.declared,
        findings=tuple(findings[each.id] for each in wanted),
    )


async def _judged(subject: Subject, wanted: list[Check], *, until: float) -> dict[str, Finding]:
    turns = asyncio.Semaphore(_WORKERS if subject.is_slow else 1)

    async def in_turn(each: Check) -> Finding:
        async with turns:
            return await _judge(subject, each, until=until)

    alone = [each for each in wanted if each.requirement.scenario == _ALONE]
    findings = list(await asyncio.gather(*(in_turn(each) for each in wanted if each not in alone)))
    findings += [await _judge(subject, each, until=until) for each in alone]
    return {finding.id: finding for finding in findings}


async def _judge(subject: Subject, each: Check, *, until: float) -> Finding:
    if each.need in _UNMET and not _is_met(subject, each.need):
        return Finding(each.id, Status.SKIPPED, _UNMET[each.need])
    try:
        async with asyncio.timeout(max(until - time.monotonic(), 0)):
            return Finding(each.id, Status.PASSED, await each.judge(subject))
    except Failed as failed:
        status = Status.FAILED if each.requirement.level == "MUST" else Status.WARNED
        return Finding(each.id, status, str(failed))
    except Skipped as skipped:
        return Finding(each.id, Status.SKIPPED, str(skipped))
    except TimeoutError:
        return Finding(each.id, Status.NOT_RUN, "no time was left: the provider answers too slowly for a whole run")


def _is_met(subject: Subject, need: Need) -> bool:
    if need is Need.RESULTS:
        return bool(subject.seen.results)
    if need is Need.ANSWERS:
        return bool(subject.seen.readable)
    return any(one.reading for one in subject.seen.answers)
