"""`Retry-After`, read strictly."""

from __future__ import annotations

import pytest

from shared.domain.retry_times import retry_at

NOW = 1_790_000_000.0  # Mon, 21 Sep 2026 14:13:20 GMT


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0),
        ("40", 40),
        (" 40\t", 40),
        ("3600", 3600),
        ("3601", 3600),
        ("9999999999", 3600),
        ("9" * 32, 3600),
        ("Mon, 21 Sep 2026 14:14:20 GMT", 60),
        ("Mon, 21 Sep 2026 23:14:20 GMT", 3600),
    ],
)
def test_seconds_and_dates_say_when_and_an_hour_is_the_most(header: str, seconds: int) -> None:
    assert retry_at(header, now=NOW) == NOW + seconds


@pytest.mark.parametrize(
    "header",
    [None, "", "-3", "+3", "1.5", "1.", "1e3", "soon", "5, 10", "４０", "1_0", "9" * 33, "0x10",
     "Mon, 21 Sep 2026 14:12:20 GMT", "Mon, 21 Sep 2026 14:14:20 +0000", "Mon, 99 Sep 2026 14:14:20 GMT",
     "2026-09-21T14:14:20Z"],
)  # fmt: skip
def test_anything_else_is_no_usable_value(header: str | None) -> None:
    assert retry_at(header, now=NOW) is None
