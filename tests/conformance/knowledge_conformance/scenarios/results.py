"""What an answer and its results look like, field by field, against the frozen schema."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import date

from knowledge_conformance.expectations import results_of
from knowledge_conformance.findings import Failed, Skipped
from knowledge_conformance.public_urls import fault_of
from knowledge_conformance.registry import Need, check
from knowledge_conformance.subject import Subject

_TAGS = (
    "a|abbr|article|b|blockquote|br|button|center|code|dd|del|details|div|dl|dt|em|figure|font|form|h[1-6]|hr|i|iframe|"
    "img|input|ins|kbd|label|li|mark|ol|p|pre|s|script|section|small|span|strong|style|sub|summary|sup|svg|table|tbody|"
    "td|th|thead|tr|u|ul|video"
)
_MARKUP = re.compile(rf"</?(?:{_TAGS})\b[^<>]*>|&(?:amp|lt|gt|quot|apos|nbsp|#\d{{1,7}}|#x[0-9a-f]{{1,6}});", re.I)
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


def _shaped(id_: str) -> Callable[[Subject], Awaitable[str]]:
    """The schema's own faults about one requirement, in every answer that came."""

    async def judge(subject: Subject) -> str:
        readings = [reading for _, reading in subject.seen.all_readable]
        faults = [fault for reading in readings for fault in subject.seen.faults_of(reading) if fault.about == id_]
        if faults:
            raise Failed(_several(faults[0].words, len(faults)))
        if id_ in _OPTIONAL and not subject.seen.values(_OPTIONAL[id_]):
            raise Skipped(f"no result carries {_OPTIONAL[id_]}")
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
    "result.translation-group-id": (
        "A `translationGroupId` is a short text",
        "1 to 512 characters, or leave it out.",
    ),
}
_OPTIONAL = {
    "result.revision": "revision",
    "result.chunk-id": "chunkId",
    "result.url": "url",
    "result.locale": "locale",
    "result.score": "score",
    "result.freshness": "freshness",
    "result.review-due-at": "reviewDueAt",
    "result.translation-group-id": "translationGroupId",
}
for _id, (_title, _fix) in _ANSWER.items():
    check(_id, _title, fix=_fix, need=Need.ANSWERS, is_late=True)(_shaped(_id))
for _id, (_title, _fix) in _RESULT.items():
    check(_id, _title, fix=_fix, need=Need.RESULTS, is_late=True)(_shaped(_id))


@check(
    "result.url",
    "A `url` is https and leads to a public host",
    fix="Answer the address at which people read the document: https, a full DNS name, no user name; or leave it out.",
    need=Need.RESULTS,
    is_late=True,
)
async def url(subject: Subject) -> str:
    await _shaped("result.url")(subject)
    urls = [value for value in subject.seen.values("url") if isinstance(value, str)]
    faults = [fault for one in urls if (fault := fault_of(one, allow_test_names=subject.is_on_this_machine))]
    if faults:
        raise Failed(_several(f"a url {faults[0]}", len(faults)))
    return f"{len(urls)} were seen"


@check(
    "result.review-due-at",
    "`reviewDueAt` is a point in time",
    fix="RFC 3339 with its offset and a day that the calendar has, such as 2027-02-28T00:00:00Z, or leave it out.",
    need=Need.RESULTS,
    is_late=True,
)
async def review_due_at(subject: Subject) -> str:
    words = await _shaped("result.review-due-at")(subject)
    bad = [value for value in subject.seen.values("reviewDueAt") if not _is_in_the_calendar(value)]
    if bad:
        raise Failed(_several("a reviewDueAt names a day that there is not", len(bad)))
    return words


@check(
    "result.snippet-plain",
    "A `snippet` is plain text",
    fix="Take markup and entities out before you answer: nothing renders them, and people would read the tags.",
    need=Need.RESULTS,
    is_late=True,
)
async def plain(subject: Subject) -> str:
    return _plain(subject, "snippet")


@check(
    "result.title-plain",
    "A `title` is plain text",
    fix="Take markup and entities out before you answer: nothing renders them, and people would read the tags.",
    need=Need.RESULTS,
    is_late=True,
)
async def plain_title(subject: Subject) -> str:
    return _plain(subject, "title")


@check(
    "result.title-told",
    "A `title` is not blank",
    fix="Where a document has no title, take its first heading or its file's name: people choose by it.",
    need=Need.RESULTS,
    is_late=True,
)
async def told(subject: Subject) -> str:
    titles = [value for value in subject.seen.values("title") if isinstance(value, str)]
    if blank := [one for one in titles if not one.strip()]:
        raise Failed(_several("a title is blank", len(blank)))
    return f"{len(titles)} were seen"


@check(
    "result.ids-stay",
    "Asked the same again, it names the same passages by the same ids",
    fix="Make ids and revisions from what is stored, so that they change when the text does and not with each request.",
    need=Need.RESULTS,
)
async def ids_stay(subject: Subject) -> str:
    """Whether it finds the same is not judged here; only what both answers name by its title and its text."""
    first, second = [await results_of(subject, {"query": subject.seen.query, "limit": 10}) for _ in range(2)]
    known = {_text_of(one): _ids_of(one) for one in first}
    both = [one for one in second if _text_of(one) in known]
    if not both:
        raise Skipped("the two answers have no passage in common")
    if changed := [one for one in both if known[_text_of(one)] != _ids_of(one)]:
        raise Failed(f"{len(changed)} of {len(both)} passages have another documentId, chunkId or revision than before")
    return f"{len(both)} passages kept theirs"


def _text_of(result: dict[str, object]) -> tuple[str, ...]:
    return tuple(str(result.get(name)) for name in ("title", "snippet", "url", "locale"))


def _ids_of(result: dict[str, object]) -> tuple[str, ...]:
    return tuple(str(result.get(name)) for name in ("documentId", "chunkId", "revision"))


def _plain(subject: Subject, field: str) -> str:
    texts = [value for value in subject.seen.values(field) if isinstance(value, str)]
    if marked := [one for one in texts if _MARKUP.search(one)]:
        raise Failed(_several(f"a {field} carries HTML", len(marked)))
    return f"{len(texts)} were seen"


def _is_in_the_calendar(value: object) -> bool:
    day = _DAY.match(str(value))
    try:
        return day is None or bool(date(*map(int, day.groups())))
    except ValueError:
        return False


def _several(words: str, count: int) -> str:
    return words if count == 1 else f"{words} ({count} times in all)"
