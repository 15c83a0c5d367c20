"""Whether a citation's URL may be shown: https, no user name, a public host by its name alone. Nothing is looked up."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

_NOT_PUBLIC = ("localhost", "local", "internal", "test", "invalid", "onion", "alt", "arpa")


def fault_of(url: str, *, allow_test_names: bool) -> str | None:
    """What is wrong, in words that repeat nothing of it. `.test` is for providers on this machine."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return "is no URL"
    if parts.scheme != "https":
        return "is not https"
    if "@" in parts.netloc:
        return "carries a user name"
    return None if _is_public(host, allow_test_names=allow_test_names) else "names a host that is not public"


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _is_public(host: str, *, allow_test_names: bool) -> bool:
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        pass
    labels = host.split(".")
    if len(labels) < 2 or not all(labels) or labels[-1].isdigit():
        return False
    return labels[-1] not in _NOT_PUBLIC or (allow_test_names and labels[-1] == "test")
