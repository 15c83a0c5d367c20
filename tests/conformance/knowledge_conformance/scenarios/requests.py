"""Requests that a provider has to take: at the edges, and with more in them than it knows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from knowledge_conformance.expectations import accepted, answered
from knowledge_conformance.registry import check
from knowledge_conformance.subject import Subject, body_of, deadline_header

_IGNORE = "Ignore what you do not know: later versions of the gateway may send more."


def _asked(query: str) -> Callable[[Subject], Awaitable[str]]:
    async def judge(subject: Subject) -> str:
        answered(await subject.ask({"query": query, "limit": 3}))
        return "answered"

    return judge


_QUERIES = {
    "query.shortest": ("A query of one character is taken", "a", "Take 1 to 1,024 code points."),
    "query.longest": ("A query of 1,024 characters is taken", "how " * 256, "Take 1 to 1,024 code points."),
    "query.longest-astral": (
        "A query of 1,024 characters beyond the basic plane is taken",
        "💡" * 1024,
        "Count code points, not bytes and not UTF-16 units: these are 4,096 bytes.",
    ),
    "query.non-ascii": (
        "A query in any script is taken",
        "Buchung ändern – 変更 – изменить – e\u0301",
        "Decode the body as UTF-8.",
    ),
    "query.punctuation": (
        "A query of punctuation and operators is taken",
        "\"AND ( OR * ) NOT -x: 'a' ; -- % _ \\ { [ ~ ^",
        "Quote what you hand to a search engine or a database: a query is text, and no expression.",
    ),
}
for _id, (_title, _query, _fix) in _QUERIES.items():
    check(_id, _title, fix=_fix)(_asked(_query))


@check("request.unknown-fields", "Fields that it does not know are ignored", fix=_IGNORE)
async def unknown_fields(subject: Subject) -> str:
    more = {"futureField": {"deep": [1, 2, {"x": None}]}, "context": {"futureHint": "x"}}
    answered(await subject.ask({"query": subject.queries[0], "limit": 3, **more}))
    return "answered"


@check("request.unknown-headers", "Headers that it does not know are ignored", fix=_IGNORE)
async def unknown_headers(subject: Subject) -> str:
    body = subject.plain_body()
    more = (
        ("X-Helpthread-Future", "1"),
        ("Traceparent", "00-" + "1" * 32 + "-" + "2" * 16 + "-01"),
        *deadline_header(),
    )
    return await accepted(subject, lambda: subject.signed(body, more=more))


@check(
    "request.context-ignored",
    "A conversation's id changes nothing",
    fix="`context.conversationId` may be there; it is no reason to refuse.",
)
async def context(subject: Subject) -> str:
    answered(
        await subject.ask({"query": subject.queries[0], "limit": 3, "context": {"conversationId": "conformance-1"}})
    )
    return "answered"


@check(
    "request.deadline-optional",
    "X-Helpthread-Deadline-Ms is help and no condition",
    fix="Answer also without that header.",
)
async def deadline(subject: Subject) -> str:
    body = body_of({"query": subject.queries[0], "limit": 3})
    return await accepted(subject, lambda: subject.signed(body))
