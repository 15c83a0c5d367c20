from __future__ import annotations

import pytest

from shared.domain.caller_addresses import caller_subject

SALT = b"salt-of-sixteen!"


def subject(address: str) -> str:
    return caller_subject(address, salt=SALT)


def test_addresses_of_one_ipv6_site_are_one_caller() -> None:
    assert subject("2001:db8:1:2::1") == subject("2001:db8:1:2:ffff:ffff:ffff:ffff")
    assert subject("2001:db8:1:2::1") != subject("2001:db8:1:3::1")


def test_each_ipv4_address_is_a_caller_of_its_own_in_either_spelling() -> None:
    assert subject("203.0.113.7") != subject("203.0.113.8")
    assert subject("203.0.113.7") == subject("::ffff:203.0.113.7")


@pytest.mark.parametrize("text", ["", "not an address", "203.0.113.7, 198.51.100.1", "203.0.113.007", "None"])
def test_what_is_no_address_is_one_caller(text: str) -> None:
    assert subject(text) == subject("?")


def test_the_name_of_a_caller_is_a_keyed_hash() -> None:
    assert subject("203.0.113.7") != caller_subject("203.0.113.7", salt=b"another salt")
    assert len(subject("203.0.113.7")) == 64
