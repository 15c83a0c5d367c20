"""Somebody who is not the gateway, or who repeats what it once said: refused, and nothing told."""

from __future__ import annotations

import asyncio
import time
from functools import partial

from knowledge_conformance import signing
from knowledge_conformance.client import Reply, Sent
from knowledge_conformance.expectations import accepted, answered, refusal, refused
from knowledge_conformance.findings import Failed, Skipped
from knowledge_conformance.registry import check
from knowledge_conformance.scenarios.signatures import OTHER
from knowledge_conformance.subject import JSON, Subject, body_of, new_nonce

_BEYOND_S = 320  # the contract's 300 s, and what two clocks may differ by
_RACERS = 8
_WHOLE = (
    "Refuse a header that is not exactly one `t`, one `n` and at least one `v1` of 64 lower-case hex digits, with 401."
)
_VERIFY = "Refuse with 401 before you look at the body, and compare in constant time."
_REMEMBER = "Remember every nonce for 600 s once its signature was verified, and refuse it the second time."


def stranger(secret_length: int = 64) -> str:
    """A secret that is not the provider's."""
    return "kgs_" + "0" * secret_length


@check("sig.unsigned-refused", "A request without a signature is refused", fix=_VERIFY)
async def unsigned(subject: Subject) -> str:
    body = subject.plain_body()
    headers = (("X-Helpthread-Knowledge-Version", "1"), ("X-Helpthread-Request", new_nonce()), ("Content-Type", JSON))
    return await refused(subject, lambda: Sent("POST", "/retrieve", body, headers))


@check("sig.wrong-secret-refused", "A signature made with another secret is refused", fix=_VERIFY)
async def wrong_secret(subject: Subject) -> str:
    return await refused(subject, lambda: subject.signed(subject.plain_body(), secret=stranger()))


@check("sig.altered-body-refused", "A body that was changed after it was signed is refused", fix=_VERIFY)
async def altered_body(subject: Subject) -> str:
    return await refused(subject, lambda: _over(subject, b'{"query":"something else","limit":50}'))


@check(
    "sig.spelling-refused",
    "The same JSON in other bytes is refused",
    fix="Verify the bytes as they came. Who parses the body, writes it again and verifies that, verifies another text.",
)
async def spelling(subject: Subject) -> str:
    return await refused(
        subject, lambda: _over(subject, subject.plain_body().replace(b",", b", ").replace(b":", b": "))
    )


@check("sig.altered-time-refused", "A time that was changed after it was signed is refused", fix=_VERIFY)
async def altered_time(subject: Subject) -> str:
    return await refused(
        subject,
        lambda: subject.signed(
            subject.plain_body(), header=lambda t, n, v: signing.header([v], timestamp=t - 1, nonce=n)
        ),
    )


@check("sig.altered-nonce-refused", "A nonce that was changed after it was signed is refused", fix=_VERIFY)
async def altered_nonce(subject: Subject) -> str:
    body = subject.plain_body()

    def build() -> Sent:
        other = new_nonce()
        t = int(time.time())
        value = signing.sign(subject.secrets.current, timestamp=t, nonce=new_nonce(), body=body)
        return subject.signed(
            body, nonce=other, timestamp=t, header=lambda t, n, _: signing.header([value], timestamp=t, nonce=n)
        )

    return await refused(subject, build)


@check(
    "sig.stale-refused",
    "A request from more than five minutes ago is refused",
    fix="Refuse when `t` is more than 300 seconds away from your clock, in either direction.",
)
async def stale(subject: Subject) -> str:
    return await refused(subject, lambda: subject.signed(subject.plain_body(), timestamp=int(time.time()) - _BEYOND_S))


@check(
    "sig.future-refused",
    "A request from more than five minutes ahead is refused",
    fix="Refuse when `t` is more than 300 seconds away from your clock, in either direction: what is from the future "
    "could be replayed once your memory of its nonce has ended.",
)
async def future(subject: Subject) -> str:
    return await refused(subject, lambda: subject.signed(subject.plain_body(), timestamp=int(time.time()) + _BEYOND_S))


@check("sig.replay-refused", "The same request a second time is refused", fix=_REMEMBER)
async def replay(subject: Subject) -> str:
    sent: list[Sent] = []

    def build() -> Sent:
        sent.append(subject.signed(subject.plain_body()))
        return sent[-1]

    answered(await subject.send(build))
    return await refused(subject, lambda: sent[-1])


@check("sig.nonce-reuse-refused", "A used nonce is refused under another body too", fix=_REMEMBER)
async def nonce_reuse(subject: Subject) -> str:
    nonce: list[str] = []

    def build() -> Sent:
        nonce.append(new_nonce())
        return subject.signed(subject.plain_body(), nonce=nonce[-1])

    answered(await subject.send(build))
    other = body_of({"query": subject.queries[0], "limit": 2})
    return await refused(subject, lambda: subject.signed(other, nonce=nonce[-1]))


@check(
    "sig.replay-race-refused",
    "Of one request sent many times at once, one is accepted",
    fix="Look up and remember the nonce in one step that cannot be divided: an insert that fails where it is there, a "
    "conditional write. All your processes share that memory.",
)
async def replay_race(subject: Subject) -> str:
    sent = subject.signed(subject.plain_body())
    replies = await asyncio.gather(*(subject.client.send(sent) for _ in range(_RACERS)))
    taken = [reply for reply in replies if reply.status == 200 and reply.fault is None]
    if len(taken) > 1:
        raise Failed(f"of {_RACERS} at once, {len(taken)} were accepted")
    if not taken:
        raise Failed(f"of {_RACERS} at once, none was accepted")
    for reply in replies:
        if reply is not taken[0] and reply.status not in (429, 503):
            refusal(reply)
    return f"of {_RACERS} at once, one was accepted"


@check(
    "sig.forgery-burns-no-nonce",
    "A forged request does not use up the nonce of a genuine one",
    fix="Remember a nonce only after its signature was verified; else anybody can block requests by their nonces.",
)
async def burnt(subject: Subject) -> str:
    nonce = new_nonce()
    refusal(await subject.send(lambda: subject.signed(subject.plain_body(), nonce=nonce, secret=stranger())))
    return await accepted(subject, lambda: subject.signed(subject.plain_body(), nonce=nonce))


@check("sig.two-times-refused", "A header with two times is refused", fix=_WHOLE)
async def two_times(subject: Subject) -> str:
    """The signed time is long past, and a fresh one stands beside it, before or behind."""

    def build(*, fresh_first: bool) -> Sent:
        past = int(time.time()) - 9_999

        def header(t: int, n: str, value: str) -> str:
            times = [f"t={int(time.time())}", f"t={t}"]
            return ",".join([*(times if fresh_first else times[::-1]), f"n={n}", f"v1={value}"])

        return subject.signed(subject.plain_body(), timestamp=past, header=header)

    await refused(subject, lambda: build(fresh_first=True))
    return await refused(subject, lambda: build(fresh_first=False))


@check("sig.two-nonces-refused", "A header with two nonces is refused", fix=_WHOLE)
async def two_nonces(subject: Subject) -> str:
    def build(*, signed_first: bool) -> Sent:
        def header(t: int, n: str, value: str) -> str:
            nonces = [f"n={n}", f"n={new_nonce()}"]
            return ",".join([f"t={t}", *(nonces if signed_first else nonces[::-1]), f"v1={value}"])

        return subject.signed(subject.plain_body(), header=header)

    await refused(subject, lambda: build(signed_first=True))
    return await refused(subject, lambda: build(signed_first=False))


@check("sig.missing-parts-refused", "A header without time, nonce or value is refused", fix=_WHOLE)
async def missing_parts(subject: Subject) -> str:
    body = subject.plain_body()
    for missing in ("t", "n", "v1"):
        await refused(subject, partial(subject.signed, body, header=partial(_without, missing)))
    return "each was refused"


@check("sig.short-value-refused", "A part of the right value is refused", fix=_WHOLE)
async def short_value(subject: Subject) -> str:
    body = subject.plain_body()
    await refused(subject, lambda: subject.signed(body, header=lambda t, n, v: f"t={t},n={n},v1={v[:32]}"))
    return await refused(subject, lambda: subject.signed(body, header=lambda t, n, _: f"t={t},n={n},v1="))


@check("sig.garbage-refused", "A header that is garbage is refused, and breaks nothing", fix=_WHOLE)
async def garbage(subject: Subject) -> str:
    body = subject.plain_body()
    for text in ("x", "=,=,=", "," * 3000, f"t={'9' * 40},n=1,v1={OTHER}"):
        await refused(subject, partial(subject.signed, body, header=partial(_always, text)))
    return "each was refused"


@check(
    "sig.refusal-is-401",
    "What is not signed by the gateway is refused with 401",
    fix="Answer 401; other statuses are taken for other faults, and an operator looks in the wrong place.",
)
async def refusal_is_401(subject: Subject) -> str:
    body = subject.plain_body()
    old = int(time.time()) - _BEYOND_S
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
    body, nonce, t = subject.plain_body(), new_nonce(), int(time.time())
    value = signing.sign(subject.secrets.current, timestamp=t, nonce=nonce, body=body)
    reply = await subject.send(lambda: subject.signed(body, nonce=nonce, timestamp=t, secret=stranger()))
    if _tells(reply, value) or _tells(reply, subject.secrets.current):
        raise Failed("the answer to a forged request carries it")
    return "nothing was told"


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
        refusal(await line.send(subject.signed(subject.plain_body(), secret=stranger())))
        answered(await line.send(subject.signed(subject.plain_body())))
    return "a genuine request after it was answered"


def _without(missing: str, t: int, n: str, value: str) -> str:
    parts = {"t": str(t), "n": n, "v1": value}
    return ",".join(f"{name}={text}" for name, text in parts.items() if name != missing)


def _always(text: str, _t: int, _n: str, _value: str) -> str:
    return text


def _over(subject: Subject, other: bytes) -> Sent:
    """A genuine request whose body was exchanged."""
    genuine = subject.signed(subject.plain_body())
    return Sent(genuine.method, genuine.path, other, genuine.headers)


def _tells(reply: Reply, text: str) -> bool:
    return text.encode() in reply.body or any(text in value for value in reply.headers.values())
