"""Many at once: a search asks all its sources together, and many people search."""

from __future__ import annotations

import asyncio
from itertools import cycle, islice

from knowledge_conformance.client import Reply
from knowledge_conformance.findings import Failed, Skipped
from knowledge_conformance.observe import is_whole
from knowledge_conformance.readings import read
from knowledge_conformance.registry import Need, check
from knowledge_conformance.subject import Observation, Subject, asked_pause_s, body_of

_AT_ONCE = 20


@check(
    "concurrency.twenty",
    "Twenty requests at once are answered",
    fix="Answer several requests at a time, or say 429 or 503 with Retry-After: a pause is kept and is no fault.",
)
async def twenty(subject: Subject) -> str:
    replies = [reply for _, reply in await _burst(subject)]
    bad = [reply for reply in replies if not is_whole(reply) and asked_pause_s(reply) is None]
    if bad:
        raise Failed(f"{len(bad)} of {_AT_ONCE} were not answered: {bad[0].words}")
    paused = sum(1 for reply in replies if not is_whole(reply))
    return "all were answered" if not paused else f"{_AT_ONCE - paused} were answered, {paused} put off"


@check(
    "concurrency.not-mixed",
    "Each of them gets the answer to its own request",
    fix="Keep what belongs to one request out of what all requests share.",
    need=Need.RESULTS,
)
async def not_mixed(subject: Subject) -> str:
    """The answers to different questions are known from before. One that is not its own and another's is mixed up;
    one that is wrong in some other way is so without load too.
    """
    known = {tuple(one.document_ids) for one in _questions(subject)}
    if len(known) < 2:
        raise Skipped("all questions have one and the same answer, so none can be taken for another's")
    for one, reply in await _burst(subject):
        if not is_whole(reply):
            continue
        got = tuple(Observation(one.query, one.limit, reply, read(reply.body)).document_ids)
        if got != tuple(one.document_ids) and got in known:
            raise Failed("an answer was that to another of the questions")
    return f"{len(known)} different answers, and none was another's"


def _questions(subject: Subject) -> list[Observation]:
    """One for each answer that is different, and can be read."""
    by_answer: dict[tuple[str, ...], Observation] = {}
    for one, _ in subject.seen.readable:
        by_answer.setdefault(tuple(one.document_ids), one)
    return list(by_answer.values())[:_AT_ONCE] or subject.seen.answers[:1]


async def _burst(subject: Subject) -> list[tuple[Observation, Reply]]:
    """Twenty at once, in turn of each question; sent once in a run, whichever check comes first."""
    if not subject.seen.burst:
        turns = list(islice(cycle(_questions(subject)), _AT_ONCE))
        bodies = [body_of({"query": one.query, "limit": one.limit}) for one in turns]
        replies = await asyncio.gather(*(subject.client.send(subject.signed(body)) for body in bodies))
        for body, reply in zip(bodies, replies, strict=True):
            subject.noted(body, reply)
        subject.seen.burst = list(zip(turns, replies, strict=True))
    return subject.seen.burst
