"""Which addresses may be dialled."""

from __future__ import annotations

import ipaddress
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.addresses import AddressPolicy, Reach, judge, reach_of

PUBLIC_ONLY = AddressPolicy(allow_private_network=False, allow_loopback=False)
EVERYTHING = AddressPolicy(allow_private_network=True, allow_loopback=True)
FIXTURES = Path(__file__).parents[2] / "fixtures" / "addresses"
ANSWERS = json.loads((FIXTURES / "refused_answers.json").read_text())


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: ",".join(case["answers"]))
def test_an_answer_of_the_corpus_is_refused_as_a_whole(case: dict) -> None:
    policy = AddressPolicy(allow_private_network=case["allowPrivateNetwork"], allow_loopback=False)
    assert not all(judge(address, policy) for address in case["answers"])


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "1.1.1.1", "172.32.0.1", "172.15.255.255", "100.63.255.255", "100.128.0.0", "168.63.129.15",
     "2606:4700:4700::1111", "2a00:1450::1", "2001:200::1", "2001:4860:4860::8888", "::ffff:8.8.8.8"],
)  # fmt: skip
def test_a_public_address_may_be_dialled(address: str) -> None:
    assert judge(address, PUBLIC_ONLY)


def test_nat64_is_judged_by_the_address_that_it_wraps() -> None:
    assert judge("64:ff9b::808:808", PUBLIC_ONLY)
    assert not judge("64:ff9b::a00:1", PUBLIC_ONLY)
    assert judge("64:ff9b::a00:1", AddressPolicy(allow_private_network=True, allow_loopback=False))
    assert not judge("64:ff9b::a9fe:a9fe", EVERYTHING)


@pytest.mark.parametrize("address", ["10.0.0.7", "172.16.0.1", "192.168.255.254", "fc00::1", "fdff::1", "fd00:ec3::1"])
def test_a_private_address_needs_the_registrations_permission(address: str) -> None:
    assert not judge(address, PUBLIC_ONLY)
    assert judge(address, AddressPolicy(allow_private_network=True, allow_loopback=False))


@pytest.mark.parametrize("address", ["127.0.0.1", "127.255.255.255", "::1"])
def test_a_loopback_address_needs_the_embedded_defaults_permission(address: str) -> None:
    assert not judge(address, AddressPolicy(allow_private_network=True, allow_loopback=False))
    assert judge(address, AddressPolicy(allow_private_network=False, allow_loopback=True))


@pytest.mark.parametrize("address", ["::ffff:127.0.0.1", "64:ff9b::7f00:1", "::127.0.0.1", "2002:7f00:1::", "::1%lo"])
def test_a_wrapped_or_scoped_loopback_address_is_refused_to_everybody(address: str) -> None:
    assert not judge(address, EVERYTHING)


@pytest.mark.parametrize(
    "network",
    ["0.0.0.0/8", "100.64.0.0/10", "168.63.129.16/32", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24",
     "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
     "fd00:ec2::/32", "fe80::/10", "fec0::/10", "ff00::/8", "::/128", "64:ff9b:1::/48", "2001::/23", "2001:db8::/32",
     "2002::/16", "3fff::/20", "5f00::/16", "100::/64"],
)  # fmt: skip
def test_both_ends_of_a_forbidden_network_are_refused_to_everybody(network: str) -> None:
    parsed = ipaddress.ip_network(network)
    assert not judge(str(parsed[0]), EVERYTHING)
    assert not judge(str(parsed[-1]), EVERYTHING)


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_wrapping_an_ipv4_address_never_widens_what_it_reaches(number: int) -> None:
    plain = reach_of(str(ipaddress.IPv4Address(number)))
    for prefix in (0xFFFF << 32, 0x0064FF9B << 96):
        wrapped = reach_of(str(ipaddress.IPv6Address(prefix | number)))
        assert wrapped is (Reach.FORBIDDEN if plain is Reach.LOOPBACK else plain)


@given(st.ip_addresses(v=6))
def test_what_python_calls_unreachable_is_never_public(address: ipaddress.IPv6Address) -> None:
    if not address.is_global:
        assert reach_of(str(address)) is not Reach.PUBLIC or address.ipv4_mapped is not None


@given(st.text(max_size=40))
def test_any_text_is_judged_without_an_error(text: str) -> None:
    assert judge(text, PUBLIC_ONLY) in (True, False)
