"""How it says no: with a status, shortly, and without telling what would have been right."""

from __future__ import annotations

import base64
import re
import time
from functools import partial

from knowledge_conformance import signing
from knowledge_conformance.client import Reply, Sent
from knowledge_conformance.expectations import all_refused, answered, is_unmarked, refusal, refused
from knowledge_conformance.findings import Failed, Skipped
from knowledge_conformance.registry import check
from knowledge_conformance.scenarios.hostile import BEYOND_S, stranger
from knowledge_conformance.subject import Subject, new_nonce

_PLACES = ((0, 0), (1, 2), (2, 3))


@check(
    "sig.refusal-is-401",
    "What is not signed by the gateway is refused with 401",
    fix="Answer 401; other statuses are taken for other faults, and an operator looks in the wrong place.",
)
async def refusal_is_401(subject: Subject) -> str:
    body = subject.plain_body()
    old = int(time.time()) - BEYOND_S
    for build in (lambda: subject.signed(body, secret=stranger()), lambda: subject.signed(body, timestamp=old)):
        reply = await subject.send(build)
        if reply.fault is None and reply.status != 401 and 400 <= reply.status < 500:
            raise Failed(f"it was refused with {reply.status}")
    return "401"


@check(
    "sig.nothing-told",
    "A refusal tells neither the secret nor the value that would have fitted",
    fix="Answer a refusal with a status and a fixed text.",
)
async def nothing_told(subject: Subject) -> str:
    reply, value = await _forged(subject)
    if _tells(reply, value) or _tells(reply, subject.secrets.current):
        raise Failed("the answer to a forged request carries it")
    return "nothing was told"


@check(
    "sig.nothing-told-encoded",
    "A refusal tells neither of them in another spelling",
    fix="Answer a refusal with a status and a fixed text.",
)
async def nothing_told_encoded(subject: Subject) -> str:
    reply, value = await _forged(subject)
    for text in (value, subject.secrets.current):
        if any(_tells(reply, spelled) for spelled in _spellings(text)):
            raise Failed("the answer to a forged request carries it in upper case, reversed or in base64")
    return "nothing was told"


@check(
    "refusal.has-status",
    "What is refused is refused with a status that says so",
    fix="Say no with a 4xx: 401 for a signature that does not hold, 400 for a body without sense. A 200 with an error "
    "in it, or a redirect to a login, is no refusal to a machine.",
)
async def has_status(subject: Subject) -> str:
    for build in (
        lambda: subject.signed(subject.plain_body(), secret=stranger()),
        lambda: subject.signed(b'{"query":'),
    ):
        reply = await subject.send(build)
        if is_unmarked(reply):
            raise Failed(f"{reply.words} without results, where a 4xx belongs")
    return "it is"


@check(
    "refusal.is-short",
    "A refusal is short",
    fix="Answer a refusal with a status and a fixed text: nobody reads more, and strangers can make you send it.",
)
async def is_short(subject: Subject) -> str:
    reply, _ = await _forged(subject)
    if reply.is_cut:
        raise Failed("the refusal of a forged request has more than 1 MiB")
    return f"{len(reply.body)} bytes"


@check(
    "capabilities.stale-refused",
    "An old signature does not open what it declares",
    fix="Verify GET /capabilities in all steps: the time as well.",
)
async def capabilities_stale(subject: Subject) -> str:
    if subject.seen.capabilities is None or subject.seen.capabilities.status != 200:
        raise Skipped("it has no such page")

    def build(off_s: int) -> Sent:  # by the clock at that moment: who is slow is asked it later
        return subject.signed(b"", method="GET", path="/capabilities", timestamp=int(time.time()) + off_s)

    return await all_refused(subject, [partial(build, off_s) for off_s in (-BEYOND_S, BEYOND_S)])


@check(
    "capabilities.unsigned-refused",
    "What it declares is told to the gateway alone",
    fix="Verify GET /capabilities as well; it is signed over an empty body.",
)
async def capabilities_unsigned(subject: Subject) -> str:
    if subject.seen.capabilities is None or subject.seen.capabilities.status != 200:
        raise Skipped("it has no such page")
    return await refused(subject, lambda: subject.signed(b"", method="GET", path="/capabilities", secret=stranger()))


@check(
    "transport.refusal-ends-cleanly",
    "After a refusal the same connection goes on, or is closed",
    fix="Read the body of a refused request to its end, or close the connection; else it passes for the next request.",
)
async def ends_cleanly(subject: Subject) -> str:
    async with subject.client.line() as line:
        refusal(await subject.send(lambda: subject.signed(subject.plain_body(), secret=stranger()), line=line))
        answered(await subject.send(lambda: subject.signed(subject.plain_body()), line=line))
    return "a genuine request after it was answered"


async def _forged(subject: Subject) -> tuple[Reply, str]:
    """The answer to a forged request, and the value that would have fitted."""
    body, nonce, t = subject.plain_body(), new_nonce(), int(time.time())
    value = signing.sign(subject.secrets.current, timestamp=t, nonce=nonce, body=body)
    reply = await subject.send(lambda: subject.signed(body, nonce=nonce, timestamp=t, secret=stranger()))
    return reply, value


def _spellings(text: str) -> list[str]:
    """In upper case, backwards, and in base64: of its text, and of the bytes that its digits stand for."""
    binary = [bytes.fromhex(text)] if re.fullmatch("[0-9a-f]{64}", text) else []
    return [text.upper(), text[::-1], *(part for data in (text.encode(), *binary) for part in _in_base64(data))]


def _in_base64(data: bytes) -> list[str]:
    """As it stands inside of a longer text, at each of three places, without its ends."""
    return [base64.b64encode(b"0" * before + data).decode().rstrip("=")[skipped:-2] for before, skipped in _PLACES]


def _tells(reply: Reply, text: str) -> bool:
    return text.encode() in reply.body or any(text in value for value in reply.headers.values())
