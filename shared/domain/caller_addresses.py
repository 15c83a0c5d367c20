"""Which callers count as one for a rate limit, and under which name they are counted."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress

_UNKNOWN = "unknown"
_IPV6_PREFIX_BITS = 64


def caller_subject(address: str, *, salt: bytes) -> str:
    """A keyed hash (hex) of the caller's group: the address itself for IPv4, its /64 for IPv6.

    What is not an address counts as one caller, so that leaving it out never escapes the limit.
    """
    return hmac.new(salt, _group(address).encode(), hashlib.sha256).hexdigest()


def _group(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return _UNKNOWN
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, _IPV6_PREFIX_BITS), strict=False))
