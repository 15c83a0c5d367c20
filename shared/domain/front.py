"""How a request shows that it came through the distribution in front, and what the distribution says of its sender."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from dataclasses import dataclass
from typing import Final

# Both in lower case, as events carry them. The first is set by the distribution in place of whatever a caller sent.
FRONT_HEADER: Final = "x-kg-front"
VIEWER_HEADER: Final = "cloudfront-viewer-address"


@dataclass(frozen=True, slots=True)
class FrontDigests:
    """SHA-256 (hex) of the value that the distribution sends, and of the one before while a change goes on."""

    current: str
    previous: str | None = None

    def match(self, presented: str) -> bool:
        """In constant time for each."""
        digest = digest_of(presented)
        known = [each for each in (self.current, self.previous) if each]
        return any(hmac.compare_digest(digest, each) for each in known)


def digest_of(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()


def viewer_address(text: str) -> str | None:
    """The address in `198.51.100.10:46532` or `2001:db8::1:46532`: what follows the last colon is the port, also of an
    address of IPv6, around which there are no brackets. None for anything else.
    """
    address, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdecimal() and int(port[:6]) <= 65_535):
        return None
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return None
