"""Genuine requests that make no sense: declined with a 4xx. Nothing that is sent makes a provider fail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from knowledge_conformance.expectations import declined, survived
from knowledge_conformance.registry import check
from knowledge_conformance.subject import Subject, body_of

_DECLINE = "Answer 400. A 5xx counts against you: your circuit opens, and you are not asked for a while."
_SURVIVE = "Answer 200 or 400, whichever you like; a 5xx counts against you, and you are not asked for a while."

_ODD_LIMITS: tuple[object, ...] = (0, -1, 51, 10**18, 2.5, "3", None, True, [])


def _declines(*bodies: bytes) -> Callable[[Subject], Awaitable[str]]:
    return _each(bodies, declined)


def _survives(*bodies: bytes) -> Callable[[Subject], Awaitable[str]]:
    return _each(bodies, survived)


def _each(bodies: tuple[bytes, ...], judge: Callable[..., str]) -> Callable[[Subject], Awaitable[str]]:
    async def all_of_them(subject: Subject) -> str:
        replies = await subject.each(subject.send(partial(subject.signed, body)) for body in bodies)
        return [judge(reply) for reply in replies][-1]

    return all_of_them


def _deep(levels: int) -> bytes:
    return b'{"query":"help","limit":3,"more":' + b"[" * levels + b"]" * levels + b"}"


_CASES = {
    "errors.malformed-json": (
        "A body that is no JSON is declined",
        _declines(b'{"query":', b"query=help", b""),
        _DECLINE,
    ),
    "errors.not-an-object": ("A body that is no object is declined", _declines(b"[]", b'"help"', b"null"), _DECLINE),
    "errors.not-utf8": ("A body that is not UTF-8 is declined", _declines(b'{"query":"\xff\xfe","limit":3}'), _DECLINE),
    "errors.missing-query": ("A request without a query is declined", _declines(b'{"limit":3}'), _DECLINE),
    "errors.query-type": (
        "A query that is no text is declined",
        _declines(b'{"query":null,"limit":3}', b'{"query":["help"],"limit":3}', b'{"query":7,"limit":3}'),
        _DECLINE,
    ),
    "errors.deep-json": ("Deep nesting breaks nothing", _survives(_deep(10_000)), _SURVIVE),
    "errors.half-character": (
        "Half a character breaks nothing",
        _survives(b'{"query":"a \\ud83d","limit":3}'),
        _SURVIVE,
    ),
    "errors.null-character": (
        "A NUL character breaks nothing",
        _survives(b'{"query":"a\\u0000b","limit":3}'),
        _SURVIVE,
    ),
    "errors.out-of-range": (
        "Limits and queries out of range break nothing",
        _survives(
            *(body_of({"query": "help", "limit": limit}) for limit in _ODD_LIMITS),
            *(body_of({"query": query, "limit": 3}) for query in ("", " ", "x" * 1025)),
            body_of({"query": "help"}),
        ),
        _SURVIVE,
    ),
    "errors.locale-type": (
        "A locale that is no tag breaks nothing",
        _survives(*(body_of({"query": "help", "limit": 3, "locale": locale}) for locale in (7, None, "", "_", ["de"]))),
        _SURVIVE,
    ),
}
for _id, (_title, _judge, _fix) in _CASES.items():
    check(_id, _title, fix=_fix)(_judge)


@check("errors.wrong-method", "A method that has no meaning is declined", fix="Answer 405 or 404 to GET /retrieve.")
async def wrong_method(subject: Subject) -> str:
    return declined(await subject.send(lambda: subject.signed(b"", method="GET")))


@check("errors.unknown-path", "A path that has no meaning is declined", fix="Answer 404 to what is not there.")
async def unknown_path(subject: Subject) -> str:
    return declined(await subject.send(lambda: subject.signed(subject.plain_body(), path="/retrieve-nothing")))
