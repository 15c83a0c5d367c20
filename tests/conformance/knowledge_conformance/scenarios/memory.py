"""Somebody who repeats what the gateway once said: refused, at once and later."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection

from knowledge_conformance.client import Sent
from knowledge_conformance.expectations import accepted, answered, is_unmarked, not_put_off, refusal, refused
from knowledge_conformance.findings import Failed, Skipped, Unmarked
from knowledge_conformance.registry import check
from knowledge_conformance.scenarios.hostile import stranger
from knowledge_conformance.subject import Kept, Subject, body_of, new_nonce

LATE = ("sig.replay-later-refused", "sig.replay-after-many-refused")  # judged at the end of a run
LATER_S = 6.0
MANY = 64
_TOGETHER = 8
_RACERS = 8
_REMEMBER = "Remember every nonce for 600 s once its signature was verified, and refuse it the second time."


async def keep_for_later(subject: Subject, ids: Collection[str]) -> None:
    """Sends a genuine request for each of these checks, to be repeated when the run has gone on."""
    if any(one.reading for one in subject.seen.answers):
        await asyncio.gather(*(_keep(subject, id_) for id_ in ids))


async def _keep(subject: Subject, id_: str) -> None:
    sent: list[Sent] = []

    def build() -> Sent:
        sent.append(subject.signed(subject.plain_body()))
        return sent[-1]

    reply = await subject.send(build)
    subject.seen.kept[id_] = Kept(sent[-1], reply, at_s=time.monotonic(), answered_before=subject.client.answered)


@check("sig.replay-refused", "The same request a second time is refused", fix=_REMEMBER)
async def replay(subject: Subject) -> str:
    sent: list[Sent] = []

    def build() -> Sent:
        sent.append(subject.signed(subject.plain_body()))
        return sent[-1]

    answered(await subject.send(build))
    return await refused(subject, lambda: sent[-1])


@check(
    "sig.replay-renamed-refused",
    "The same signature under another X-Helpthread-Request is refused",
    fix="Remember `n` of the signature header: it is signed. X-Helpthread-Request is not, and anybody can change it.",
)
async def replay_renamed(subject: Subject) -> str:
    sent: list[Sent] = []

    def build() -> Sent:
        sent.append(subject.signed(subject.plain_body()))
        return sent[-1]

    answered(await subject.send(build))
    return await refused(subject, lambda: _renamed(sent[-1]))


@check(
    "sig.replay-later-refused",
    "The same request is refused seconds later too",
    fix="Remember every nonce for 600 s, however many come after it: a signature may be 300 s old, and as far ahead.",
)
async def replay_later(subject: Subject) -> str:
    kept = _kept(subject, "sig.replay-later-refused")
    await asyncio.sleep(max(kept.at_s + LATER_S - time.monotonic(), 0))
    await refused(subject, lambda: kept.sent)
    return f"refused after {time.monotonic() - kept.at_s:.0f} s; that it is for 600 s, no short run can tell"


@check(
    "sig.replay-after-many-refused",
    "The same request is refused after many others too",
    fix="Let time end the memory of a nonce, and not the number of those that came after it.",
)
async def replay_after_many(subject: Subject) -> str:
    kept = _kept(subject, "sig.replay-after-many-refused")
    while (missing := kept.answered_before + MANY - subject.client.answered) > 0:
        before = subject.client.answered
        await asyncio.gather(*(_asked_once_more(subject) for _ in range(min(missing, _TOGETHER))))
        if subject.client.answered == before:
            raise Skipped("genuine requests are no longer answered; another check says why")
    await refused(subject, lambda: kept.sent)
    return f"refused after {subject.client.answered - kept.answered_before} others"


@check("sig.nonce-reuse-refused", "A used nonce is refused under another body too", fix=_REMEMBER)
async def nonce_reuse(subject: Subject) -> str:
    nonce, t = await _used(subject, age_s=0)
    other = body_of({"query": subject.queries[0], "limit": 2})
    return await refused(subject, lambda: subject.signed(other, nonce=nonce, timestamp=t))


@check(
    "sig.nonce-other-time-refused",
    "A used nonce is refused under another time too",
    fix="Remember the nonce alone. With its time beside it, the same nonce is new in every second.",
)
async def nonce_other_time(subject: Subject) -> str:
    nonce, t = await _used(subject, age_s=5)
    return await refused(subject, lambda: subject.signed(subject.plain_body(), nonce=nonce, timestamp=t + 3))


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
        of_refusals = sum(1 for reply in taken if is_unmarked(reply)) >= len(taken) - 1
        raise (Unmarked if of_refusals else Failed)(f"of {_RACERS} at once, {len(taken)} were accepted")
    if broken := sum(1 for reply in replies if reply.fault):
        raise Skipped(f"of {_RACERS} at once, {broken} got no answer at all")
    if not taken:
        for reply in replies:
            not_put_off(reply)
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


def _kept(subject: Subject, id_: str) -> Kept:
    if id_ not in subject.seen.kept:
        raise Skipped("no genuine request could be sent beforehand")
    answered(subject.seen.kept[id_].reply)
    return subject.seen.kept[id_]


async def _asked_once_more(subject: Subject) -> None:
    body = subject.plain_body()
    await subject.send(lambda: subject.signed(body))


async def _used(subject: Subject, *, age_s: int) -> tuple[str, int]:
    """Nonce and time of a genuine request that was accepted."""
    used: list[tuple[str, int]] = []

    def build() -> Sent:
        nonce, t = new_nonce(), int(time.time()) - age_s
        used.append((nonce, t))
        return subject.signed(subject.plain_body(), nonce=nonce, timestamp=t)

    answered(await subject.send(build))
    return used[-1]


def _renamed(sent: Sent) -> Sent:
    """The same request under a number of its own."""
    other = new_nonce()
    headers = tuple((name, other if name == "X-Helpthread-Request" else value) for name, value in sent.headers)
    return Sent(sent.method, sent.path, sent.body, headers)
