"""The first requests, by which the provider is got to know."""

from __future__ import annotations

from functools import partial
from typing import Any

from knowledge_conformance.client import NO_CONNECTION, Reply
from knowledge_conformance.readings import Reading, read
from knowledge_conformance.subject import Observation, Subject, asked_pause_s

NOWHERE_FOUND = "zqxjvwk qqzzxy wvvkq"
LIMITS = (1, 3, 11, 50)  # asked besides 10
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
    """Not even a connection could be made. `reply` says why."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.words)
        self.reply = reply


async def observe(subject: Subject) -> None:
    """Fills `subject.seen`. Raises `Unreachable`. Where no request can succeed, no other follows."""
    rest = await _first_whole(subject)
    if rest is None:
        return
    seen = subject.seen
    first = (_read_capabilities, partial(_ask, questions=[(query, 10) for query in rest]))
    await subject.each(begin(subject) for begin in first)
    found = max(seen.readable, key=lambda pair: len(pair[1].results), default=None)
    if found and found[1].results:
        seen.query = found[0].query
    query = seen.query or subject.queries[0]
    more = [(text, 10) for text in (NOWHERE_FOUND, _words_of_two(seen.results)) if text]
    await _ask(subject, [*((query, limit) for limit in (*LIMITS, _one_less(found))), *more])
    seen.nothing = seen.of(NOWHERE_FOUND, 10)


async def _first_whole(subject: Subject) -> tuple[str, ...] | None:
    """Asks until there is an answer, since a provider may take nothing found for an error. The questions that are left,
    or None where no question will get one.
    """
    for position, query in enumerate(subject.queries, start=1):
        await _ask(subject, [(query, 10)])
        reply = subject.seen.answers[-1].reply
        if position == 1 and reply.fault in NO_CONNECTION:
            raise Unreachable(reply)
        if reply.is_whole:
            return subject.queries[position:]
        if reply.fault or 300 <= reply.status < 400 or reply.status in (401, 403) or asked_pause_s(reply) is not None:
            return None
    return None


def _one_less(found: tuple[Observation, Reading] | None) -> int:
    """A limit below what was found, so that it has to cut."""
    return min(max((len(found[1].results) if found else 0) - 1, 1), 10)


def _words_of_two(results: list[dict[str, Any]]) -> str:
    """A question that finds some results better than others: a word of one title and two of another."""
    titles = list(dict.fromkeys(str(result.get("title")) for result in results))
    words = [[word for word in title.split() if word.isalpha() and len(word) in range(4, 30)] for title in titles]
    told = [some for some in words if some]
    return " ".join([*told[0][:1], *told[-1][:2]]) if len(told) > 1 else ""


async def _ask(subject: Subject, questions: list[tuple[str, int]]) -> None:
    """Noted in their order."""
    asked = dict.fromkeys(one for one in questions if subject.seen.of(*one) is None)
    subject.seen.answers += await subject.each(_observed(subject, query, limit) for query, limit in asked)


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
    return reply.is_whole
