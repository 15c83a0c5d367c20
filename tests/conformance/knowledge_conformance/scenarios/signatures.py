"""Genuine requests are accepted, in every form in which the gateway may send them."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime

from knowledge_conformance import signing
from knowledge_conformance.expectations import accepted
from knowledge_conformance.findings import Failed, Skipped
from knowledge_conformance.registry import Need, check
from knowledge_conformance.roots import GENUINE
from knowledge_conformance.subject import Secrets, Subject, body_of

# The contract's 300 s, less what two clocks may differ by. To the second it is in the signature vectors.
WITHIN_S = 280
_MAX_SKEW_S = 20
_ORDERED = "Compare your HMAC with each `v1`; during a rotation there are two, in either order."
_BYTES = "Compute the HMAC over the bytes as they came, before anything parses or rewrites them."


@check(
    "sig.genuine-accepted",
    "A genuine signature is accepted",
    fix="v1 = HMAC-SHA256 in hex over `t.n.` and the body's raw bytes; the key is the secret's text with its kgs_.",
    need=Need.NOTHING,
)
async def genuine(subject: Subject) -> str:
    for one in subject.seen.answers:
        if one.reply.status in (401, 403):
            raise Failed(f"a genuine request was refused with {one.reply.status}")
    if not any(one.reading for one in subject.seen.answers):
        raise Skipped("no genuine request was answered at all", because=GENUINE)
    return "accepted"


@check("sig.first-value-accepted", "Of two values the first may be the one that fits", fix=_ORDERED)
async def first_value(subject: Subject) -> str:
    return await accepted(
        subject, lambda: subject.signed(subject.plain_body(), header=lambda t, n, v: _two(t, n, v, OTHER))
    )


@check("sig.second-value-accepted", "Of two values the second may be the one that fits", fix=_ORDERED)
async def second_value(subject: Subject) -> str:
    return await accepted(
        subject, lambda: subject.signed(subject.plain_body(), header=lambda t, n, v: _two(t, n, OTHER, v))
    )


@check(
    "sig.spaces-accepted",
    "Spaces after the commas of the header are accepted",
    fix="Strip spaces from each part of the header after you split it at its commas.",
)
async def spaces(subject: Subject) -> str:
    return await accepted(
        subject,
        lambda: subject.signed(
            subject.plain_body(), header=lambda t, n, v: signing.header([v], timestamp=t, nonce=n, separator=", ")
        ),
    )


@check(
    "sig.unknown-items-accepted",
    "Parts of the header that it does not know are ignored",
    fix="Take `t`, `n` and every `v1`, and leave other names alone: a later scheme may stand beside this one.",
)
async def unknown_items(subject: Subject) -> str:
    return await accepted(
        subject, lambda: subject.signed(subject.plain_body(), header=lambda t, n, v: f"t={t},n={n},v2=abc,v1={v}")
    )


@check("sig.whitespace-verified", "A body with other white space is verified as it came", fix=_BYTES)
async def whitespace(subject: Subject) -> str:
    return await accepted(subject, lambda: subject.signed(b'{\r\n\t"limit" : 3 ,\n  "query" : "help"\r\n}\n'))


@check("sig.escapes-verified", "A body with escapes is verified as it came", fix=_BYTES)
async def escapes(subject: Subject) -> str:
    return await accepted(subject, lambda: subject.signed(b'{"query":"\\u00e4ndern \\u5909\\u66f4","limit":3}'))


@check("sig.non-ascii-verified", "A body that is not ASCII is verified as it came", fix=_BYTES)
async def non_ascii(subject: Subject) -> str:
    return await accepted(subject, lambda: subject.signed(body_of({"query": "ändern 変更 💡 e\u0301", "limit": 3})))


@check(
    "sig.slow-clock-accepted",
    "A request from a few minutes ago is accepted",
    fix="Accept up to 300 s, in seconds and in either direction, and set your clock.",
)
async def slow_clock(subject: Subject) -> str:
    return await accepted(subject, lambda: subject.signed(subject.plain_body(), timestamp=int(time.time()) - WITHIN_S))


@check(
    "sig.fast-clock-accepted",
    "A request from a clock that is a few minutes ahead is accepted",
    fix="Accept up to 300 s, in seconds and in either direction, and set your clock.",
)
async def fast_clock(subject: Subject) -> str:
    return await accepted(subject, lambda: subject.signed(subject.plain_body(), timestamp=int(time.time()) + WITHIN_S))


@check("clock.right", "Its clock is right", fix="Keep the clock with NTP; signatures are judged by it.")
async def clock(subject: Subject) -> str:
    dates = [one.reply.headers["date"] for one in subject.seen.answers if "date" in one.reply.headers]
    try:
        told = parsedate_to_datetime(dates[-1]).timestamp()
    except (IndexError, ValueError, TypeError):
        raise Skipped("no answer carries a Date that could be read") from None
    off = abs(time.time() - told)
    if off > _MAX_SKEW_S:
        raise Failed(f"Date and our clock differ by about {off:.0f} s")
    return "Date and our clock agree"


@check("rotation.both", "During a rotation a request with both signatures is accepted", fix=_ORDERED)
async def both(subject: Subject) -> str:
    secrets = _rotating(subject)
    body = subject.plain_body()

    def header(t: int, n: str, value: str) -> str:
        return _two(t, n, value, signing.sign(secrets.previous or "", timestamp=t, nonce=n, body=body))

    return await accepted(subject, lambda: subject.signed(body, header=header))


@check(
    "rotation.current-alone",
    "The new secret alone is accepted",
    fix="Hold both secrets until the window ends, and accept either.",
    need=Need.NOTHING,
)
async def current_alone(subject: Subject) -> str:
    secrets = _rotating(subject)
    return await accepted(subject, lambda: subject.signed(subject.plain_body(), secret=secrets.current))


@check(
    "rotation.previous-alone",
    "The previous secret alone is accepted",
    fix="Hold both secrets until the window ends, and accept either.",
)
async def previous_alone(subject: Subject) -> str:
    secrets = _rotating(subject)
    return await accepted(subject, lambda: subject.signed(subject.plain_body(), secret=secrets.previous))


OTHER = "5a" * 32  # a value that fits nothing


def _two(t: int, n: str, first: str, second: str) -> str:
    return signing.header([first, second], timestamp=t, nonce=n)


def _rotating(subject: Subject) -> Secrets:
    if subject.secrets.previous is None:
        raise Skipped("no previous secret was given: --previous-secret-env")
    return subject.secrets
