"""What an answer and its results look like, field by field, against the frozen schema."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from knowledge_conformance.findings import Failed
from knowledge_conformance.public_urls import fault_of
from knowledge_conformance.registry import Need, check
from knowledge_conformance.shapes import faults_of_answer
from knowledge_conformance.subject import Subject

_MARKUP = re.compile(r"</?(?:p|div|span|br|a|ul|ol|li|h[1-6]|b|i|em|strong|script|style|table|tr|td|img)\b[^>]*>", re.I)


def _shaped(id_: str) -> Callable[[Subject], Awaitable[str]]:
    """The schema's own faults about one requirement."""

    async def judge(subject: Subject) -> str:
        readings = [reading for _, reading in subject.seen.readable]
        faults = [fault for reading in readings for fault in faults_of_answer(reading.document) if fault.about == id_]
        if faults:
            raise Failed(_several(faults[0].words, len(faults)))
        return f"in {len(readings)} answers"

    return judge


_ANSWER = {
    "answer.version": (
        "The answer names version 1 of the contract",
        "Write `contractVersion: 1`, a number, into every answer.",
    ),
    "answer.results": (
        "`results` is a list of objects",
        "Write `results`, a list, also when it is empty; each result is an object.",
    ),
}
_RESULT = {
    "result.document-id": (
        "Each result has a `documentId`",
        "A text of 1 to 512 characters, without control characters.",
    ),
    "result.title": ("Each result has a `title`", "A text of up to 512 characters."),
    "result.snippet": (
        "Each result has a `snippet`",
        "Plain text that is not blank. A provider of titles alone gives nobody anything to go by.",
    ),
    "result.snippet-length": (
        "A `snippet` has at most 8,000 characters",
        "Answer the passage instead of the document.",
    ),
    "result.audience": (
        "Each result says `public` or `internal`",
        "Write exactly one of the two words; anything else counts as internal and never reaches a customer.",
    ),
    "result.revision": ("A `revision` is a short text", "1 to 512 characters, or leave it out."),
    "result.chunk-id": ("A `chunkId` is a short text", "1 to 512 characters, or leave it out."),
    "result.locale": (
        "A `locale` is a language tag",
        "A BCP 47 tag with hyphens, such as de or zh-Hant, or leave it out.",
    ),
    "result.score": ("A `score` is a number", "A finite number without quotes, or leave it out."),
    "result.freshness": ("`freshness` is one of its three words", "current, stale or unknown, or leave it out."),
    "result.review-due-at": (
        "`reviewDueAt` is a point in time",
        "RFC 3339 with its offset, such as 2027-02-28T00:00:00Z, or leave it out.",
    ),
    "result.translation-group-id": (
        "A `translationGroupId` is a short text",
        "1 to 512 characters, or leave it out.",
    ),
}
for _id, (_title, _fix) in _ANSWER.items():
    check(_id, _title, fix=_fix, need=Need.ANSWERS)(_shaped(_id))
for _id, (_title, _fix) in _RESULT.items():
    check(_id, _title, fix=_fix, need=Need.RESULTS)(_shaped(_id))


@check(
    "result.url",
    "A `url` is https and leads to a public host",
    fix="Answer the address at which people read the document: https, a full DNS name, no user name; or leave it out.",
    need=Need.RESULTS,
)
async def url(subject: Subject) -> str:
    await _shaped("result.url")(subject)
    urls = [value for value in subject.seen.values("url") if isinstance(value, str)]
    faults = [fault for one in urls if (fault := fault_of(one, allow_test_names=subject.is_on_this_machine))]
    if faults:
        raise Failed(_several(f"a url {faults[0]}", len(faults)))
    return f"{len(urls)} were seen"


@check(
    "result.snippet-plain",
    "A `snippet` is plain text",
    fix="Take markup out before you answer: nothing renders it, and people would read the tags.",
    need=Need.RESULTS,
)
async def plain(subject: Subject) -> str:
    snippets = [value for value in subject.seen.values("snippet") if isinstance(value, str)]
    marked = [one for one in snippets if _MARKUP.search(one)]
    if marked:
        raise Failed(_several("a snippet carries HTML", len(marked)))
    return f"{len(snippets)} were seen"


def _several(words: str, count: int) -> str:
    return words if count == 1 else f"{words} ({count} times in all)"
