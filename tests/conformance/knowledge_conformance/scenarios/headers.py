"""Signature headers that are out of form: refused, whatever else in them is right."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from knowledge_conformance.client import Sent
from knowledge_conformance.expectations import all_refused
from knowledge_conformance.registry import check
from knowledge_conformance.scenarios.signatures import OTHER
from knowledge_conformance.subject import Subject, new_nonce

_WHOLE = (
    "Refuse a header that is not exactly one `t`, one `n` and at least one `v1` of 64 lower-case hex digits, with 401."
)


@check("sig.two-times-refused", "A header with two times is refused", fix=_WHOLE)
async def two_times(subject: Subject) -> str:
    """One of them is signed; the other is fresh, the same, or a few seconds older, before it or behind it."""

    def build(other_s: int, signed_s: int, *, signed_first: bool) -> Sent:
        now = int(time.time())

        def header(t: int, n: str, value: str) -> str:
            times = [f"t={t}", f"t={now + other_s}"]
            return ",".join([*(times if signed_first else times[::-1]), f"n={n}", f"v1={value}"])

        return subject.signed(subject.plain_body(), timestamp=now + signed_s, header=header)

    pairs = ((0, -9_999), (-9_999, 0), (-9, 0), (0, 0))
    return await all_refused(
        subject, [partial(build, *pair, signed_first=first) for pair in pairs for first in (True, False)]
    )


@check("sig.two-nonces-refused", "A header with two nonces is refused", fix=_WHOLE)
async def two_nonces(subject: Subject) -> str:
    def build(*, signed_first: bool) -> Sent:
        def header(t: int, n: str, value: str) -> str:
            nonces = [f"n={n}", f"n={new_nonce()}"]
            return ",".join([f"t={t}", *(nonces if signed_first else nonces[::-1]), f"v1={value}"])

        return subject.signed(subject.plain_body(), header=header)

    return await all_refused(subject, [partial(build, signed_first=first) for first in (True, False)])


@check("sig.missing-parts-refused", "A header without time, nonce or value is refused", fix=_WHOLE)
async def missing_parts(subject: Subject) -> str:
    return await _each_refused(
        subject,
        lambda t, n, v: f"n={n},v1={v}",
        lambda t, n, v: f"t={t},v1={v}",
        lambda t, n, v: f"t={t},n={n}",
        lambda t, n, v: f"t={t},n={n},v2={v}",
    )


@check("sig.short-value-refused", "A part of the right value is refused", fix=_WHOLE)
async def short_value(subject: Subject) -> str:
    return await _each_refused(
        subject,
        lambda t, n, v: f"t={t},n={n},v1={v[:32]}",
        lambda t, n, v: f"t={t},n={n},v1={v[:63]}",
        lambda t, n, v: f"t={t},n={n},v1={v[:8]}",
        lambda t, n, v: f"t={t},n={n},v1={v}0",
        lambda t, n, v: f"t={t},n={n},v1=",
    )


@check(
    "sig.altered-value-refused",
    "A value that is right but for one digit, or in another order, is refused",
    fix="Compare all 64 digits, each in its place: `hmac.compare_digest`, `timingSafeEqual` and the like do.",
)
async def altered_value(subject: Subject) -> str:
    return await _each_refused(subject, *(partial(_with_value, change) for change in _ALTERED))


@check(
    "sig.upper-case-refused",
    "A value in upper-case digits is refused",
    fix="Take lower-case hex digits alone: compare the text as it came, and not the bytes that it stands for.",
)
async def upper_case(subject: Subject) -> str:
    return await _each_refused(subject, partial(_with_value, str.upper))


@check(
    "sig.odd-values-refused",
    "A header of the right form with one odd value is refused, and breaks nothing",
    fix="Hold each part against its form before you use it: `t` is 1 to 12 ASCII digits, `v1` is 64 lower-case hex "
    "digits. Conversions and comparisons fail at what is none, and that is a 500.",
)
async def odd_values(subject: Subject) -> str:
    times = [partial(_with_time, text) for text in ("abc", "-1", "1.5", "1e9", "٣", "")]
    values = [partial(_with_value, change) for change in _ODD]
    return await _each_refused(subject, *times, *values)


@check("sig.garbage-refused", "A header that is garbage is refused, and breaks nothing", fix=_WHOLE)
async def garbage(subject: Subject) -> str:
    texts = ("x", "=,=,=", "," * 3000, f"t={'9' * 40},n=1,v1={OTHER}")
    return await _each_refused(subject, *(partial(_always, text) for text in texts))


Header = Callable[[int, str, str], str]
_DIGITS = "0123456789abcdef"


def _changed(value: str, place: int) -> str:
    """Another digit in one place."""
    other = _DIGITS[(_DIGITS.index(value[place]) + 1) % 16]
    return value[:place] + other + value[place:][1:]


_ALTERED: tuple[Callable[[str], str], ...] = (
    lambda value: _changed(value, 0),
    lambda value: _changed(value, 31),
    lambda value: _changed(value, 63),
    lambda value: value[::-1],
    lambda value: value[32:] + value[:32],
    lambda value: "".join(sorted(value)),
    lambda value: value[:8] + OTHER[8:],
    lambda value: value[:32] + OTHER[32:],
    lambda value: OTHER[:32] + value[32:],
)
_ODD: tuple[Callable[[str], str], ...] = (
    lambda _: "z" * 64,
    lambda _: OTHER[:63] + "é",
    lambda _: OTHER[:62] + "0x",
)


async def _each_refused(subject: Subject, *headers: Header) -> str:
    body = subject.plain_body()
    return await all_refused(subject, [partial(subject.signed, body, header=header) for header in headers])


def _with_time(text: str, _t: int, n: str, value: str) -> str:
    return f"t={text},n={n},v1={value}"


def _with_value(change: Callable[[str], str], t: int, n: str, value: str) -> str:
    return f"t={t},n={n},v1={change(value)}"


def _always(text: str, _t: int, _n: str, _value: str) -> str:
    return text
