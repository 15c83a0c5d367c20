"""Whom the distribution says it speaks for, and what a request behind it looks like."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.front import FrontDigests, digest_of, viewer_address
from shared.errors import NotThroughFront
from shared.web.door import let_in
from shared.web.events import normalised
from tests.support.front_fakes import FakeFrontDoor

SHOWN = "c" * 64
DOOR = FakeFrontDoor(FrontDigests(digest_of(SHOWN)))


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("198.51.100.10:46532", "198.51.100.10"),
        ("2001:db8::1:46532", "2001:db8::1"),
        ("2001:db8:85a3:0:0:8a2e:370:7334:1", "2001:db8:85a3::8a2e:370:7334"),
        ("::1:80", "::1"),
        ("198.51.100.10", None),
        ("198.51.100.10:", None),
        ("198.51.100.10:99999", None),
        ("198.51.100.10:465321234567890", None),
        ("198.51.100.10:-1", None),
        ("198.51.100.10:٣", None),
        ("[2001:db8::1]:443", None),
        ("198.51.100.10, 203.0.113.1:80", None),
        ("viewer:80", None),
        (":80", None),
        ("", None),
    ],
)
def test_what_follows_the_last_colon_is_the_port(text: str, address: str | None) -> None:
    assert viewer_address(text) == address


def event(**headers: str) -> dict[str, Any]:
    context = {"http": {"method": "POST", "path": "/x", "sourceIp": "203.0.113.200"}}
    return normalised({"rawPath": "/x", "headers": headers, "requestContext": context})


def address_of(event: dict[str, Any]) -> str:
    return str(event["requestContext"]["http"]["sourceIp"])


def test_behind_the_front_the_caller_is_whom_it_names() -> None:
    seen = let_in(event(**{"X-KG-Front": SHOWN, "CloudFront-Viewer-Address": "2001:db8::1:46532"}), DOOR)
    assert address_of(seen) == "2001:db8::1"


def test_what_was_shown_goes_no_further() -> None:
    seen = let_in(event(**{"X-KG-Front": SHOWN, "Accept": "*/*"}), DOOR)
    assert seen["headers"] == {"accept": "*/*"}
    assert SHOWN not in repr(seen)


@pytest.mark.parametrize("text", ["", "nonsense", "198.51.100.7"])
def test_a_caller_whom_it_does_not_name_is_the_front_itself(text: str) -> None:
    seen = let_in(event(**{"X-KG-Front": SHOWN, "CloudFront-Viewer-Address": text}), DOOR)
    assert address_of(seen) == "203.0.113.200"


def test_forwarding_headers_say_nothing() -> None:
    forged = {"X-Forwarded-For": "198.51.100.1", "Forwarded": "for=198.51.100.2", "X-Real-IP": "198.51.100.3"}
    assert address_of(let_in(event(**{"X-KG-Front": SHOWN, **forged}), DOOR)) == "203.0.113.200"


@pytest.mark.parametrize("headers", [{}, {"X-KG-Front": ""}, {"X-KG-Front": "d" * 64}, {"X-KG-Front": f"{SHOWN},x"}])
def test_what_did_not_come_through_is_refused(headers: dict[str, str]) -> None:
    with pytest.raises(NotThroughFront):
        let_in(event(**headers, **{"CloudFront-Viewer-Address": "198.51.100.7:1"}), DOOR)
