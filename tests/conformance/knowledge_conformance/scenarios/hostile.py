"""Somebody who is not the gateway: refused."""

from __future__ import annotations

import time
from functools import partial

from knowledge_conformance import signing
from knowledge_conformance.client import Sent
from knowledge_conformance.expectations import all_refused, refused
from knowledge_conformance.registry import check
from knowledge_conformance.subject import JSON, Subject, body_of, new_nonce

BEYOND_S = 320  # the contract's 300 s, and what two clocks may differ by
_NO_SECRETS = ("", "None", "null", "undefined", "changeme", "secret", "kgs_")
_VERIFY = "Refuse with 401 before you look at the body, and compare in constant time."


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
    bodies = (subject.plain_body(), body_of({"query": subject.queries[0], "limit": 3, "more": "x" * 9_000}))
    return await all_refused(subject, [partial(subject.signed, body, secret=stranger()) for body in bodies])


@check(
    "sig.empty-secret-refused",
    "A signature made with no secret, or with a word that stands for none, is refused",
    fix="Take no secret that is empty: leave it out of your list where the variable is not set, and refuse to start "
    "where none is left.",
)
async def empty_secret(subject: Subject) -> str:
    body = subject.plain_body()
    return await all_refused(subject, [partial(subject.signed, body, secret=secret) for secret in _NO_SECRETS])


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
    return await refused(subject, lambda: subject.signed(subject.plain_body(), timestamp=int(time.time()) - BEYOND_S))


@check(
    "sig.future-refused",
    "A request from more than five minutes ahead is refused",
    fix="Refuse when `t` is more than 300 seconds away from your clock, in either direction: what is from the future "
    "could be replayed once your memory of its nonce has ended.",
)
async def future(subject: Subject) -> str:
    return await refused(subject, lambda: subject.signed(subject.plain_body(), timestamp=int(time.time()) + BEYOND_S))


def _over(subject: Subject, other: bytes) -> Sent:
    """A genuine request whose body was exchanged."""
    genuine = subject.signed(subject.plain_body())
    return Sent(genuine.method, genuine.path, other, genuine.headers)
