"""What checks demand of one reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from knowledge_conformance.client import Reply, Sent
from knowledge_conformance.findings import Failed
from knowledge_conformance.observe import is_whole
from knowledge_conformance.readings import Reading, read
from knowledge_conformance.subject import Subject


def answered(reply: Reply) -> Reading:
    """The answer's reading. Raises `Failed` for anything but a whole 200."""
    if not is_whole(reply):
        raise Failed(reply.words)
    return read(reply.body)


def results_in(reply: Reply) -> list[dict[str, Any]]:
    """The results that came. Raises `Failed` for anything but a whole 200."""
    return [result for result in answered(reply).results if isinstance(result, dict)]


def declined(reply: Reply) -> str:
    """The request has no sense: 4xx, and in words what came. Raises `Failed`."""
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


def refusal(reply: Reply) -> str:
    """Raises `Failed` unless the reply is a refusal, and one without results."""
    count = len(read(reply.body).results)
    if 200 <= reply.status < 300:
        raise Failed(f"it was accepted: {reply.words}" + (f" with {count} results" if count else ""))
    words = declined(reply)
    if count:
        raise Failed(f"{words}, but the body carries {count} results")
    return words


async def accepted(subject: Subject, build: Callable[[], Sent]) -> str:
    """Raises `Failed` unless a genuine request is answered with 200."""
    answered(await subject.send(build))
    return "accepted"
