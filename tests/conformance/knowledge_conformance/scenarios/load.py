"""Many at once: a search asks all its sources together, and many people search."""

from __future__ import annotations

import asyncio

from knowledge_conformance.client import Reply
from knowledge_conformance.findings import Failed
from knowledge_conformance.observe import is_whole
from knowledge_conformance.readings import read
from knowledge_conformance.registry import Need, check
from knowledge_conformance.subject import Subject, asked_pause_s, body_of, deadline_header

_AT_ONCE = 20


@check(
    "concurrency.twenty",
    "Twenty requests at once are answered",
    fix="Answer several requests at a time, or say 429 or 503 with Retry-After: a pause is kept and is no fault.",
)
async def twenty(subject: Subject) -> str:
    replies = await _at_once(subject, [3] * _AT_ONCE)
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
    """Half ask for one result and half for many: a mixed-up answer is too long."""
    limits = [1, 50] * (_AT_ONCE // 2)
    replies = await _at_once(subject, limits)
    for limit, reply in zip(limits, replies, strict=True):
        if is_whole(reply) and (count := len(read(reply.body).results)) > limit:
            raise Failed(f"one that asked for {limit} got {count} results")
    return "no answer was another's"


async def _at_once(subject: Subject, limits: list[int]) -> list[Reply]:
    query = subject.seen.query or subject.queries[0]
    bodies = [body_of({"query": query, "limit": limit}) for limit in limits]
    return await asyncio.gather(*(subject.client.send(subject.signed(body, more=deadline_header())) for body in bodies))
