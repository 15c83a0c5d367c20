"""What checks demand of one reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from knowledge_conformance.client import Reply, Sent
from knowledge_conformance.findings import Failed, Postponed, Skipped, Unmarked
from knowledge_conformance.observe import is_whole
from knowledge_conformance.readings import Reading, read
from knowledge_conformance.subject import Subject, asked_pause_s


def answered(reply: Reply) -> Reading:
    """The answer's reading. Raises `Failed` for anything but a whole 200."""
    not_put_off(reply)
    if not is_whole(reply):
        raise Failed(reply.words)
    return read(reply.body)


async def asked(subject: Subject, fields: Mapping[str, object]) -> Reading:
    """The answer to a question that may find nothing. Raises `Failed` for anything but a whole 200."""
    reply = await subject.ask(fields)
    if not reply.fault and reply.status == subject.seen.refuses_nothing_found_with:
        raise Skipped("it was answered like a question that finds nothing", because=("results.none",))
    return answered(reply)


async def results_of(subject: Subject, fields: Mapping[str, object]) -> list[dict[str, Any]]:
    """The results that came. Raises as `asked` does."""
    return [result for result in (await asked(subject, fields)).results if isinstance(result, dict)]


def not_put_off(reply: Reply) -> None:
    """Raises `Postponed` where a longer pause is asked for than is kept: that is neither a yes nor a no."""
    pause_s = asked_pause_s(reply)
    if pause_s is not None:
        raise Postponed(
            f"it was put off with {reply.status} and a Retry-After of {pause_s:.0f} s, again or for too long"
        )


def is_unmarked(reply: Reply) -> bool:
    """Whether this is neither an answer nor a refusal: a redirect, or a 2xx with something else in it than results."""
    if reply.fault:
        return False
    if 300 <= reply.status < 400:
        return True
    document = read(reply.body).document
    carries = isinstance(document, dict) and ("results" in document or "capabilities" in document)
    return 200 <= reply.status < 300 and not carries


def declined(reply: Reply) -> str:
    """The request has no sense: 4xx, and in words what came. Raises `Failed`."""
    not_put_off(reply)
    if is_unmarked(reply):
        raise Unmarked(f"{reply.words} without results, where a 4xx belongs")
    if reply.fault or not 400 <= reply.status < 500:
        raise Failed(f"{reply.words}, where a 4xx belongs")
    return f"declined with {reply.status}"


def survived(reply: Reply) -> str:
    """Whether it is taken or declined, the provider itself does not fail. Raises `Failed`."""
    if reply.fault or not 200 <= reply.status < 500 or 300 <= reply.status < 400:
        raise Failed(f"{reply.words}, where a 200 or a 4xx belongs")
    return reply.words


async def refused(subject: Subject, build: Callable[[], Sent]) -> str:
    """Sends what no gateway sent. Raises `Failed` unless it is declined, and without results."""
    return refusal(await subject.send(build))


async def all_refused(subject: Subject, builds: Sequence[Callable[[], Sent]]) -> str:
    """As `refused`, for each: one after the other, or at once where that would take too long."""
    await subject.each(refused(subject, build) for build in builds)
    return f"each of {len(builds)} was refused" if len(builds) > 1 else "refused"


def refusal(reply: Reply) -> str:
    """Raises `Failed` unless the reply is a refusal, and one without results."""
    count = len(read(reply.body).results)
    if is_unmarked(reply):
        raise Unmarked(f"{reply.words} without results: a refusal has a status of its own")
    if 200 <= reply.status < 300:
        raise Failed(f"it was accepted: {reply.words}" + (f" with {count} results" if count else ""))
    words = declined(reply)
    if count:
        raise Failed(f"{words}, but the body carries {count} results")
    return words


async def accepted(subject: Subject, build: Callable[[], Sent]) -> str:
    """Raises `Failed` unless a genuine request is answered with 200."""
    bodies: list[bytes] = []

    def kept() -> Sent:
        sent = build()
        bodies.append(sent.body)
        return sent

    reply = await subject.send(kept)
    answered(reply)
    if bodies[-1]:
        subject.noted(bodies[-1], reply)
    return "accepted"
