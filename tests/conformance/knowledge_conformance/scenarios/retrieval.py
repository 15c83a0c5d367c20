"""The least that a provider does: it answers a genuine request in time, in strict JSON, within the limit."""

from __future__ import annotations

from knowledge_conformance.client import Fault
from knowledge_conformance.expectations import answered
from knowledge_conformance.findings import Failed, Skipped
from knowledge_conformance.observe import NOWHERE_FOUND, is_whole
from knowledge_conformance.readings import NOT_FINITE, NOT_JSON, NOT_UTF8, REPEATED_KEY, TOO_DEEP
from knowledge_conformance.registry import Need, check
from knowledge_conformance.roots import ANSWERS, GENUINE
from knowledge_conformance.shapes import kind_of
from knowledge_conformance.subject import Observation, Subject

_ALLOWED_S = 10.0
_COMFORTABLE_S = 3.0
_NO_VERDICT = (401, 403)  # those are about the signature


@check(
    "retrieve.answers",
    "A genuine request is answered with 200",
    fix="Answer POST {base url}/retrieve with status 200. Look at your own log for what went wrong.",
    need=Need.NOTHING,
)
async def answers(subject: Subject) -> str:
    whole = _first_whole(subject)
    for one in subject.seen.answers:
        reply = one.reply
        if one.query == NOWHERE_FOUND or one.limit != 10:
            continue  # those have checks of their own
        if whole and reply.status and reply.status == subject.seen.refuses_nothing_found_with:
            continue  # and that is what they tell
        if reply.fault is Fault.BROKEN:
            raise Failed(reply.words)
        if reply.fault is None and reply.status not in (200, *_NO_VERDICT) and not 300 <= reply.status < 400:
            raise Failed(reply.words)
    if not whole:
        raise Skipped("no genuine request was answered with 200", because=GENUINE)
    return f"{len(_whole(subject))} genuine requests were answered with 200"


@check(
    "retrieve.no-redirect",
    "It answers itself instead of leading elsewhere",
    fix="Register the address that answers. No redirect is ever followed: it would carry the question elsewhere.",
    need=Need.NOTHING,
)
async def no_redirect(subject: Subject) -> str:
    for one in subject.seen.answers:
        if 300 <= one.reply.status < 400:
            raise Failed(one.reply.words)
    _some_came(subject)
    return "no redirect came"


@check(
    "retrieve.content-type",
    "The answer says that it is JSON",
    fix="Send `Content-Type: application/json`.",
    is_late=True,
)
async def content_type(subject: Subject) -> str:
    for one in _whole(subject):
        if not says_json(one.reply.headers.get("content-type", "")):
            raise Failed("the Content-Type is " + ("another" if "content-type" in one.reply.headers else "missing"))
    return "every answer says so"


@check(
    "retrieve.size",
    "The answer has at most 1 MiB, on the wire and unpacked",
    fix="Answer fewer or shorter passages; what is larger is refused whole.",
    need=Need.NOTHING,
)
async def size(subject: Subject) -> str:
    _no_fault(subject, Fault.TOO_LARGE)
    _some_came(subject)
    largest = max((len(one.reply.body) for one in subject.seen.answers), default=0)
    return f"the largest answer has {largest} bytes"


@check(
    "retrieve.encoding",
    "It is packed as it says, if at all",
    fix="Send gzip, deflate or nothing, as `Accept-Encoding` offers, and the Content-Encoding that is true.",
    need=Need.NOTHING,
)
async def encoding(subject: Subject) -> str:
    _no_fault(subject, Fault.BAD_ENCODING)
    _some_came(subject)
    return "every answer could be unpacked"


@check(
    "json.utf8",
    "The answer is UTF-8 and has whole characters alone",
    fix="Encode the body as UTF-8. A `\\ud83d` without its other half is no character.",
)
async def utf8(subject: Subject) -> str:
    return _without(subject, NOT_UTF8, "the body is not UTF-8, or spells half a character")


@check("json.valid", "The answer is JSON", fix="Write the body with a JSON library, and nothing before or behind it.")
async def valid(subject: Subject) -> str:
    return _without(subject, NOT_JSON, "the body is not JSON")


@check(
    "json.unique-keys",
    "No key stands twice in one object",
    fix="Write each key once; readers differ in which of two they take, so the answer is refused.",
)
async def unique_keys(subject: Subject) -> str:
    return _without(subject, REPEATED_KEY, "a key stands twice in one object")


@check(
    "json.finite-numbers",
    "There is no NaN and no Infinity",
    fix="Leave `score` out where you have no number. In Python: json.dumps(..., allow_nan=False).",
)
async def finite(subject: Subject) -> str:
    return _without(subject, NOT_FINITE, "a number is NaN, infinite or too large")


@check("json.depth", "The answer is nested at most 32 deep", fix="Leave out what the contract does not name.")
async def depth(subject: Subject) -> str:
    return _without(subject, TOO_DEEP, "the body is nested more than 32 deep")


@check(
    "answer.object",
    "The answer is one JSON object",
    fix='Answer `{"contractVersion": 1, "results": [...]}`, and not the list alone.',
)
async def is_object(subject: Subject) -> str:
    read = [one.reading for one in _whole(subject) if one.reading and one.reading.is_json]
    if not read:
        raise Skipped("no answer is JSON", because=ANSWERS)
    others = [reading.document for reading in read if not isinstance(reading.document, dict)]
    if others:
        raise Failed(f"it is {kind_of(others[0])}")
    return f"{len(read)} answers are objects"


@check(
    "results.found",
    "At least one question finds something",
    fix="Name a question that your provider has passages for: --query 'change a booking'. Without results nothing that "
    "is said of results can be examined.",
    need=Need.ANSWERS,
)
async def found(subject: Subject) -> str:
    if not subject.seen.query:
        if len(subject.seen.readable) < len([one for one in subject.seen.answers if one.reading]):
            raise Skipped("an answer could not be read", because=ANSWERS)
        faults = [fault.about for _, one in subject.seen.readable for fault in subject.seen.faults_of(one)]
        if "answer.results" in faults:
            raise Skipped("no results could be read", because=("answer.results",))
        raise Failed(f"{len(subject.queries)} questions found nothing")
    most = max(len(reading.results) for _, reading in subject.seen.readable)
    return f"the best question found {most} results"


@check(
    "results.none",
    "A question that finds nothing is answered with an empty list",
    fix='Answer 200 with `"results": []`; nothing found is no error.',
)
async def none(subject: Subject) -> str:
    one = subject.seen.nothing
    if one is None:
        raise Skipped("no genuine request was answered with 200", because=GENUINE)
    if one.reading is None:
        raise Failed(one.reply.words)
    if one.reading.results:
        raise Skipped("it finds something for every question, words of no language too")
    if not isinstance(one.reading.document, dict):
        raise Skipped("that answer could not be read", because=ANSWERS)
    return "200 with no results"


@check(
    "limit.obeyed",
    "There are never more results than were asked for",
    fix="Cut your results at `limit`; the surplus is thrown away, and with it your time.",
    need=Need.ANSWERS,
    is_late=True,
)
async def limit_obeyed(subject: Subject) -> str:
    most = 0
    for one, reading in subject.seen.all_readable:
        most = max(most, len(reading.results))
        if len(reading.results) > one.limit:
            raise Failed(f"{len(reading.results)} results came where {one.limit} were asked for")
    if most < 2:
        raise Skipped("no question found more than one result; name a better one with --query")
    limits = sorted({one.limit for one, _ in subject.seen.all_readable})
    return f"limits of {', '.join(map(str, limits))} were kept"


@check(
    "limit.each",
    "Limits in between are taken as well",
    fix="Take every `limit` from 1 to 50; answer fewer results if you like.",
)
async def limit_each(subject: Subject) -> str:
    asked = [one for one in subject.seen.answers if one.limit not in (10, 50)]
    for one in asked:
        if one.reading is None:
            raise Failed(f"a limit of {one.limit}: {one.reply.words}")
    return f"{len(asked)} were taken"


@check(
    "limit.highest",
    "A limit of 50 is taken",
    fix="Take every `limit` from 1 to 50; answer fewer results if you like.",
)
async def limit_highest(subject: Subject) -> str:
    ten, fifty = _with_ten_and_fifty(subject)
    if fifty.reading is None:
        raise Failed(fifty.reply.words)
    if ten.document_ids and not fifty.document_ids:
        raise Failed(f"nothing came, where a limit of 10 got {len(ten.document_ids)} results")
    return f"answered with {len(fifty.document_ids)} results"


@check(
    "limit.no-fewer",
    "With a limit of 50 it finds no less than with 10",
    fix="Look for `limit` passages before you group, filter or cut them.",
    need=Need.RESULTS,
)
async def no_fewer(subject: Subject) -> str:
    ten, fifty = _with_ten_and_fifty(subject)
    if not fifty.document_ids:
        raise Skipped("with 50 no results came", because=("limit.highest",))
    if len(fifty.document_ids) < len(ten.document_ids):
        raise Failed(f"{len(fifty.document_ids)} results came with 50, and {len(ten.document_ids)} with 10")
    return f"{len(ten.document_ids)} with 10, {len(fifty.document_ids)} with 50"


@check(
    "latency.deadline",
    "Every answer is whole within 10 seconds",
    fix="Answer within X-Helpthread-Deadline-Ms, with fewer results if need be; what comes later is never read.",
    need=Need.NOTHING,
)
async def deadline(subject: Subject) -> str:
    _no_fault(subject, Fault.TIMEOUT)
    slowest = _slowest(subject)
    if slowest > _ALLOWED_S:
        raise Failed(f"the slowest took {slowest:.1f} s")
    return f"the slowest took {slowest:.2f} s"


@check(
    "latency.comfortable",
    "Every answer is there within 3 seconds",
    fix="People wait for the slowest source, and searches have deadlines: be faster, or you are often left out.",
)
async def comfortable(subject: Subject) -> str:
    slowest = _slowest(subject)
    if slowest > _COMFORTABLE_S:
        raise Failed(f"the slowest took {slowest:.1f} s")
    return f"the slowest took {slowest:.2f} s"


@check(
    "transport.keep-alive",
    "A second request on the same connection is answered too",
    fix="Send a Content-Length that is true, or close the connection after the answer and say so.",
)
async def keep_alive(subject: Subject) -> str:
    body = subject.plain_body()
    async with subject.client.line() as line:
        for _ in range(2):
            answered(await subject.send(lambda: subject.signed(body), line=line))
    return "two requests were answered"


def says_json(content_type: str) -> bool:
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json"))


def _whole(subject: Subject) -> list[Observation]:
    return [one for one in subject.seen.all_answers if is_whole(one.reply)]


def _first_whole(subject: Subject) -> Observation | None:
    return next(iter(_whole(subject)), None)


def _some_came(subject: Subject) -> None:
    """Raises `Skipped` where nothing ever came that could be judged."""
    if not any(one.reply.status for one in subject.seen.answers):
        raise Skipped("no answer came at all", because=GENUINE)


def _with_ten_and_fifty(subject: Subject) -> tuple[Observation, Observation]:
    query = subject.seen.query or subject.queries[0]
    ten, fifty = subject.seen.of(query, 10), subject.seen.of(query, 50)
    if ten is None or fifty is None:
        raise Skipped("it was not asked", because=GENUINE)
    return ten, fifty


def _no_fault(subject: Subject, fault: Fault) -> None:
    for one in subject.seen.answers:
        if one.reply.fault is fault:
            raise Failed(one.reply.words)


def _without(subject: Subject, fault: str, words: str) -> str:
    for one in _whole(subject):
        if one.reading and fault in one.reading.faults:
            raise Failed(words)
    return f"{len(_whole(subject))} answers were read"


def _slowest(subject: Subject) -> float:
    return max((one.reply.took_s for one in subject.seen.answers), default=0.0)
