"""Requests that a provider has to take: at the edges, and with more in them than it knows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial

from knowledge_conformance.client import Sent
from knowledge_conformance.expectations import accepted, answered, asked, survived
from knowledge_conformance.findings import Failed, Skipped
from knowledge_conformance.readings import Reading
from knowledge_conformance.registry import check
from knowledge_conformance.subject import Subject, body_of, deadline_header

_IGNORE = "Ignore what you do not know: later versions of the gateway may send more."
_Asked = Callable[[], Awaitable[Reading]]


def _asked(*queries: str) -> Callable[[Subject], Awaitable[str]]:
    async def judge(subject: Subject) -> str:
        await subject.each(asked(subject, {"query": query, "limit": 3}) for query in queries)
        return "answered"

    return judge


_QUERIES = {
    "query.shortest": ("A query of one character is taken", ("a",), "Take 1 to 1,024 code points."),
    "query.longest": ("A query of 1,024 characters is taken", ("how " * 256,), "Take 1 to 1,024 code points."),
    "query.longest-astral": (
        "A query of 1,024 characters beyond the basic plane is taken",
        ("💡" * 1024,),
        "Count code points, not bytes and not UTF-16 units: these are 4,096 bytes.",
    ),
    "query.non-ascii": (
        "A query in any script is taken",
        ("Buchung ändern – 変更 – изменить – é", "تغيير الحجز", "\u05e9\u05dc\u05d5\u05dd \u200f(a) \u202bb\u202c"),
        "Decode the body as UTF-8.",
    ),
    "query.emoji": (
        "A query of emoji is taken",
        ("👩‍👩‍👧 ✈️ 🇩🇪", "💡"),
        "Where a query has no word that you look for, answer an empty list.",
    ),
    "query.punctuation": (
        "A query of punctuation and operators is taken",
        (
            "\"AND ( OR * ) NOT -x: 'a' ; -- % _ \\ { [ ~ ^",
            "*",
            "*a",
            "a\\",
            "a (b",
            'a "b',
            "a AND",
            "NOT",
            "$a $$ ${b} %s",
            "?!",
        ),
        "Quote what you hand to a search engine or a database: a query is text, and no expression.",
    ),
}
for _id, (_title, _texts, _fix) in _QUERIES.items():
    check(_id, _title, fix=_fix)(_asked(*_texts))


@check(
    "query.line-breaks",
    "Line breaks in a query break nothing",
    fix="Take white space of every kind for a space. A 5xx counts against you, and you are not asked for a while.",
)
async def line_breaks(subject: Subject) -> str:
    bodies = [body_of({"query": query, "limit": 3}) for query in ("a\nb", "a\r\n\tb\u2028c")]
    replies = await subject.each(subject.send(partial(subject.signed, body)) for body in bodies)
    return [survived(reply) for reply in replies][-1]


@check("request.unknown-fields", "Fields that it does not know are ignored", fix=_IGNORE)
async def unknown_fields(subject: Subject) -> str:
    more = {"futureField": {"deep": [1, 2, {"x": None}]}, "context": {"futureHint": "x"}}
    return await _as_without(subject, lambda: _ask_with(subject, more))


@check("request.unknown-headers", "Headers that it does not know are ignored", fix=_IGNORE)
async def unknown_headers(subject: Subject) -> str:
    more = (
        ("X-Helpthread-Future", "1"),
        ("Traceparent", "00-" + "1" * 32 + "-" + "2" * 16 + "-01"),
        *deadline_header(),
    )
    body = subject.plain_body()

    async def ask() -> Reading:
        return answered(subject.noted(body, await subject.send(lambda: subject.signed(body, more=more))))

    return await _as_without(subject, ask)


@check(
    "request.header-names",
    "Header names are read in any case and any order",
    fix="Compare header names without their case, as HTTP has it: proxies write them in lower-case letters.",
)
async def header_names(subject: Subject) -> str:
    body = subject.plain_body()
    for spell in (_lower, _upper, _reversed):
        await accepted(subject, partial(_spelt, spell, subject, body))
    return "in lower case, in upper case and the other way round"


@check(
    "request.context-ignored",
    "A conversation's id changes nothing",
    fix="`context.conversationId` may be there; it is no reason to refuse, and none to find something else.",
)
async def context(subject: Subject) -> str:
    return await _as_without(subject, lambda: _ask_with(subject, {"context": {"conversationId": "conformance-1"}}))


@check(
    "request.deadline-optional",
    "X-Helpthread-Deadline-Ms is help and no condition",
    fix="Answer also without that header.",
)
async def deadline(subject: Subject) -> str:
    body = subject.plain_body()
    return await accepted(subject, lambda: subject.signed(body, more=()))


async def _ask_with(subject: Subject, more: Mapping[str, object]) -> Reading:
    return answered(await subject.ask({"query": subject.seen.query or subject.queries[0], "limit": 3, **more}))


async def _as_without(subject: Subject, ask: _Asked) -> str:
    """Raises `Failed` where other documents come than without; where it never answers twice the same, `Skipped`."""
    before = _documents(await _ask_with(subject, {}))
    told = _documents(await ask())
    if told == before:
        return f"answered, with the same {len(told)} results"
    if _documents(await _ask_with(subject, {})) != before:
        raise Skipped("the same question finds something else each time, so nothing can be compared")
    raise Failed(f"{len(told)} other results came than the {len(before)} without it")


def _documents(reading: Reading) -> list[str]:
    return [str(one.get("documentId")) for one in reading.results if isinstance(one, dict)]


def _spelt(spell: Callable[[Sent], Sent], subject: Subject, body: bytes) -> Sent:
    return spell(subject.signed(body))


def _lower(sent: Sent) -> Sent:
    return replace(sent, headers=tuple((name.lower(), value) for name, value in sent.headers))


def _upper(sent: Sent) -> Sent:
    return replace(sent, headers=tuple((name.upper(), value) for name, value in sent.headers))


def _reversed(sent: Sent) -> Sent:
    return replace(sent, headers=sent.headers[::-1])
