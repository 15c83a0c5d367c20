"""Which IP addresses the gateway may dial.

The tables are the gateway's own: the standard library's `is_global` changes between Python releases and takes
wrapped addresses for public ones. For IPv6 only what is known to be public is; everything else is refused.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

Address: TypeAlias = "ipaddress.IPv4Address | ipaddress.IPv6Address"


class Reach(StrEnum):
    """What kind of place an address is."""

    PUBLIC = "public"
    PRIVATE = "private"  # RFC 1918 and fc00::/7: open to a registration that allows private networks
    LOOPBACK = "loopback"  # open to the embedded default alone
    FORBIDDEN = "forbidden"  # open to nobody


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """What one registration may reach beyond public addresses, and whether without TLS. `allow_loopback` is for the
    embedded default alone, which needs no more than that for plain http to loopback addresses.
    """

    allow_private_network: bool
    allow_loopback: bool
    allow_plain_http: bool = False


def judge(address: str, policy: AddressPolicy) -> bool:
    """Whether this address may be dialled. Text that is not an address may not."""
    reach = reach_of(address)
    return (
        reach is Reach.PUBLIC
        or (reach is Reach.PRIVATE and policy.allow_private_network)
        or (reach is Reach.LOOPBACK and policy.allow_loopback)
    )


def reach_of(address: str) -> Reach:
    """Only the canonical spellings are addresses: no decimal, octal, hex or short IPv4, no zone ids."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return Reach.FORBIDDEN
    return _reach_of_ipv4(parsed) if isinstance(parsed, ipaddress.IPv4Address) else _reach_of_ipv6(parsed)


def _reach_of_ipv4(address: ipaddress.IPv4Address) -> Reach:
    if _is_in(address, _LOOPBACK_IPV4):
        return Reach.LOOPBACK
    if _is_in(address, _PRIVATE_IPV4):
        return Reach.PRIVATE
    return Reach.FORBIDDEN if _is_in(address, _FORBIDDEN_IPV4) else Reach.PUBLIC


def _reach_of_ipv6(address: ipaddress.IPv6Address) -> Reach:
    if address.scope_id is not None:
        return Reach.FORBIDDEN
    if address == _LOOPBACK_IPV6:
        return Reach.LOOPBACK
    if _is_in(address, _WRAPPERS):
        # A wrapped loopback address has no honest use, not even on one's own machine.
        reach = _reach_of_ipv4(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        return Reach.FORBIDDEN if reach is Reach.LOOPBACK else reach
    if _is_in(address, _FORBIDDEN_IPV6):
        return Reach.FORBIDDEN
    if _is_in(address, _PRIVATE_IPV6):
        return Reach.PRIVATE
    return Reach.PUBLIC if _is_in(address, _PUBLIC_IPV6) else Reach.FORBIDDEN


def _is_in(address: Address, networks: Iterable[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> bool:
    return any(address in network for network in networks)


_LOOPBACK_IPV4 = (ipaddress.IPv4Network("127.0.0.0/8"),)
_PRIVATE_IPV4 = tuple(map(ipaddress.IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_FORBIDDEN_IPV4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8",  # this host
            "100.64.0.0/10",  # shared address space; metadata services live here too
            "168.63.129.16/32",  # a cloud platform's virtual host
            "169.254.0.0/16",  # link-local; metadata services
            "192.0.0.0/24",  # protocol assignments; metadata services
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # 6to4 relays
            "198.18.0.0/15",  # benchmarking
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)
_LOOPBACK_IPV6 = ipaddress.IPv6Address("::1")
_WRAPPERS = tuple(map(ipaddress.IPv6Network, ("::ffff:0:0/96", "64:ff9b::/96")))  # IPv4-mapped, NAT64
_PRIVATE_IPV6 = (ipaddress.IPv6Network("fc00::/7"),)
_PUBLIC_IPV6 = (ipaddress.IPv6Network("2000::/3"),)
_FORBIDDEN_IPV6 = tuple(
    map(
        ipaddress.IPv6Network,
        (
            "fd00:ec2::/32",  # metadata services, inside the private range
            "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarking
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "3fff::/20",  # documentation
        ),
    )
)
