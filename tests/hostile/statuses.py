"""Answers of other statuses. Each carries passages and words of its own, which nobody may hear."""

from __future__ import annotations

from typing import Final

from tests.hostile.case import AN_HOUR_S, WORDS, Case, document, fails, finds, octets, passage, status
from tests.support.hostile_provider import answer_of

UPSTREAM, BROKEN, RATE = "upstream_error", "invalid_response", "rate_limited"
_METADATA: Final = "Location: http://169.254.169.254/latest/\r\n"
_ITSELF: Final = "Location: retrieve\r\n"


def _says(line: str, code: str, does: str, *, headers: str = "", name: str = "") -> Case:
    return fails(name or f"status-{line[:3]}", does, status(line, headers), code)


def _waits(name: str, value: str, retry_s: int | None, *, line: str = "429 Too Many", code: str = RATE) -> Case:
    headers = "".join(f"Retry-After: {each}\r\n" for each in value.split("|"))
    return fails(
        f"retry-{name}", f"{line[:3]} with Retry-After: {value[:34]}", status(line, headers), code, retry_s=retry_s
    )


REDIRECTS: Final = (
    _says("300 Choices", UPSTREAM, "several places to choose from", headers=_METADATA),
    _says("301 Moved", UPSTREAM, "redirects to the metadata service", headers=_METADATA),
    _says("302 Found", UPSTREAM, "redirects to itself", headers=_ITSELF),
    _says("303 See Other", UPSTREAM, "redirects to a private address", headers="Location: https://10.0.0.8/\r\n"),
    _says("304 Not Modified", BROKEN, "says that nothing has changed, and what"),
    _says("307 Temporary", UPSTREAM, "redirects to another scheme", headers="Location: file:///etc/passwd\r\n"),
    _says("308 Permanent", UPSTREAM, "redirects to nowhere"),
)

OTHERS: Final = (
    _says("201 Created", BROKEN, "a success of another sort"),
    _says("202 Accepted", BROKEN, "has accepted, and answers later"),
    fails("status-204", "has nothing to say", octets(b"HTTP/1.1 204 No Content\r\n\r\n"), BROKEN),
    fails("status-304-alone", "says that nothing has changed", octets(b"HTTP/1.1 304 Same\r\n\r\n"), UPSTREAM),
    _says("206 Partial", BROKEN, "a part of an answer", headers="Content-Range: bytes 0-9/4000\r\n"),
    _says("299 Fine", BROKEN, "a success that nobody has defined"),
    _says("400 Bad Request", UPSTREAM, "does not understand"),
    _says("401 Unauthorized", "unauthorized", "wants a password", headers='WWW-Authenticate: Basic realm="x"\r\n'),
    _says("403 Forbidden", "forbidden", "forbids it"),
    _says("404 Not Found", "not_found", "knows no such page"),
    _says("405 Not Allowed", UPSTREAM, "wants another method", headers="Allow: GET\r\n"),
    _says("407 Proxy", UPSTREAM, "plays a proxy", headers="Proxy-Authenticate: Basic\r\n"),
    _says("418 Teapot", UPSTREAM, "is a teapot"),
    _says("421 Misdirected", UPSTREAM, "is somebody else"),
    _says("426 Upgrade", UPSTREAM, "wants another protocol", headers="Upgrade: h2c\r\nConnection: Upgrade\r\n"),
    _says("500 Error", UPSTREAM, "breaks, and tells how"),
    _says("502 Bad Gateway", UPSTREAM, "is broken behind its proxy"),
    _says("504 Timeout", UPSTREAM, "has no time behind its proxy"),
    _says("511 Log In", UPSTREAM, "a hotel's log-in page"),
    _says("600 Beyond", UPSTREAM, "a status that there is not"),
    _says("999 Denied", UPSTREAM, "a status of a kind of its own"),
)

WAITS: Final = (
    _says("429 Too Many", RATE, "has had too many requests"),
    _says("503 Unavailable", UPSTREAM, "is unavailable"),
    _waits("in-seconds", "40", 40),
    _waits("for-ever", "99999999999", AN_HOUR_S),
    _waits("of-5000-digits", "9" * 5000, None),
    _waits("in-the-past", "Wed, 21 Oct 2015 07:28:00 GMT", None),
    _waits("in-2099", "Wed, 21 Oct 2099 07:28:00 GMT", AN_HOUR_S),
    _waits("on-no-day", "Wed, 31 Feb 2099 07:28:00 GMT", None),
    _waits("negative", "-5", None),
    _waits("in-parts", "1.5", None),
    _waits("in-words", f"soon, {WORDS}", None),
    _waits("twice", "5|70", None),
    _waits("in-other-digits", "\xb2", None),
    _waits("with-503", "30", 30, line="503 Busy", code=UPSTREAM),
    _waits("with-500", "30", None, line="500 Error", code=UPSTREAM),
    _waits("with-403", "30", None, line="403 Forbidden", code="forbidden"),
    finds(
        "retry-with-200",
        "200 with Retry-After: 3600",
        document(answer_of(passage("retry-with-200")), headers="Retry-After: 3600\r\n"),
    ),
)
