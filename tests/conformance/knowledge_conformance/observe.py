"""The first requests, by which the provider is got to know."""

from __future__ import annotations

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
    if not await _answered(subject, subject.queries[0], limit=10):
        return
    await _read_capabilities(subject)
    for query in subject.queries[1:]:
        await _answered(subject, query, limit=10)
    found = max(subject.seen.readable, key=lambda pair: len(pair[1].results), default=None)
    if found and found[1].results:
        subject.seen.query = found[0].query
    for query, limit in ((subject.seen.query or subject.queries[0], 1), (NOWHERE_FOUND, 10)):
        await _answered(subject, query, limit=limit)


async def _answered(subject: Subject, query: str, *, limit: int) -> bool:
    reply = await subject.ask({"query": query, "limit": limit})
    if reply.fault is Fault.UNREACHABLE and not subject.seen.answers:
        raise Unreachable
    subject.seen.answers.append(Observation(query, limit, reply, read(reply.body) if is_whole(reply) else None))
    return is_whole(reply)


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
