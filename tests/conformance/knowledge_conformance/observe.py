"""The first requests, by which the provider is got to know."""

from __future__ import annotations

import asyncio

from knowledge_conformance.client import Fault, Reply
from knowledge_conformance.readings import read
from knowledge_conformance.subject import Observation, Subject

NOWHERE_FOUND = "zqxjvwk qqzzxy wvvkq"
_FLAGS = (
    "semanticSearch",
    "locale",
    "localeFallback",
    "freshness",
    "translationGroups",
    "chunking",
    "scoring",
    "citationUrl",
)


class Unreachable(Exception):
    """Not even a connection could be made."""


async def observe(subject: Subject) -> None:
    """Fills `subject.seen`. Raises `Unreachable`. Where the first request fails, no other follows it."""
    await _ask(subject, [(subject.queries[0], 10)])
    first = subject.seen.answers[0].reply
    if first.fault is Fault.UNREACHABLE:
        raise Unreachable
    if not is_whole(first):
        return
    await _read_capabilities(subject)
    await _ask(subject, [(query, 10) for query in subject.queries[1:]])
    found = max(subject.seen.readable, key=lambda pair: len(pair[1].results), default=None)
    if found and found[1].results:
        subject.seen.query = found[0].query
    await _ask(subject, [(subject.seen.query or subject.queries[0], 1), (NOWHERE_FOUND, 10)])


async def _ask(subject: Subject, questions: list[tuple[str, int]]) -> None:
    """One after the other, or all at once where that would take too long; noted in their order."""
    asked = [_observed(subject, query, limit) for query, limit in questions]
    subject.seen.answers += await asyncio.gather(*asked) if subject.is_slow else [await one for one in asked]


async def _observed(subject: Subject, query: str, limit: int) -> Observation:
    reply = await subject.ask({"query": query, "limit": limit})
    return Observation(query, limit, reply, read(reply.body) if is_whole(reply) else None)


async def _read_capabilities(subject: Subject) -> None:
    reply = await subject.send(lambda: subject.signed(b"", method="GET", path="/capabilities"))
    subject.seen.capabilities = reply
    if not is_whole(reply):
        return
    subject.seen.declaration = read(reply.body)
    document = subject.seen.declaration.document
    declared = document.get("capabilities") if isinstance(document, dict) else None
    if isinstance(declared, dict):
        subject.seen.declared = frozenset(name for name in _FLAGS if declared.get(name) is True)


def is_whole(reply: Reply) -> bool:
    return reply.fault is None and reply.status == 200
