from __future__ import annotations

import pytest

from shared.domain.origins import comparable_origin, is_listed

LISTED = ("https://help.fern-desk.test",)


@pytest.mark.parametrize("origin", ["https://help.fern-desk.test", "https://HELP.fern-desk.test"])
def test_the_listed_origin_is_found_whatever_the_case_of_its_host(origin: str) -> None:
    assert is_listed(origin, LISTED)


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "",
        "null",
        "*",
        "https://help.fern-desk.test.evil.test",
        "https://helpXfern-desk.test",
        "https://helpxfern-desk.test",
        "http://help.fern-desk.test",
        "https://help.fern-desk.test:8443",
        "https://help.fern-desk.test/",
        "https://help.fern-desk.test/path",
        "https://help.fern-desk.test, https://help.fern-desk.test",
        "https://help.fern-desk.test,https://evil.test",
        " https://help.fern-desk.test",
        "https://help.fern-desk.test\n",
        "https://user@help.fern-desk.test",
        "https://evil.test#https://help.fern-desk.test",
        "https://help.fern-des\u212a.test",
        "https://" + "a" * 300,
    ],
)
def test_anything_else_is_not(origin: str | None) -> None:
    assert not is_listed(origin, LISTED)


def test_a_wildcard_or_null_in_the_list_lets_nobody_in() -> None:
    assert not is_listed("null", ("null",))
    assert not is_listed("https://help.fern-desk.test", ("*",))


def test_ports_are_part_of_an_origin() -> None:
    assert is_listed("http://127.0.0.1:8787", ("http://127.0.0.1:8787",))
    assert comparable_origin("http://[::1]:8787") == "http://[::1]:8787"
