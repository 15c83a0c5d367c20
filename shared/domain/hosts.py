"""The host of a URL: one ASCII identity for each, or a reason why it is none."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from stringprep import in_table_b1

from shared.domain.addresses import Reach, reach_of

_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
# Browsers load pages from more names than a host may properly have, and send them as the origin.
_LABEL_OF_A_PAGE = re.compile(r"[a-z0-9_-]{1,63}", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_MAX_NAME_CHARACTERS = 253
# Characters that the two generations of internationalised names map to different hosts.
_AMBIGUOUS = frozenset("ßẞς\u200c\u200d")
# Names that resolve inside a network, a machine or nowhere; never to a page of the public internet.
_NOT_PUBLIC = (".localhost", ".local", ".internal", ".test", ".invalid", ".onion", ".alt", ".arpa")
_METADATA_NAMES = ("metadata.google.internal", "instance-data.ec2.internal")


class BadHost(ValueError):
    """`reason` is a sentence for the person who typed the URL; it repeats nothing of it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Host:
    """`text` is a lower-case DNS name, a dotted IPv4 address or an IPv6 address without brackets."""

    text: str
    is_address: bool

    @property
    def in_url(self) -> str:
        return f"[{self.text}]" if ":" in self.text else self.text

    @property
    def is_loopback(self) -> bool:
        return reach_of(self.text) is Reach.LOOPBACK if self.is_address else is_under(self.text, "localhost")

    @property
    def is_metadata_name(self) -> bool:
        return any(is_under(self.text, name) for name in _METADATA_NAMES)

    def is_public(self, *, allow_test_names: bool) -> bool:
        """Whether this is a public DNS name or a public address, judged without a look-up."""
        if self.is_address:
            return reach_of(self.text) is Reach.PUBLIC
        if allow_test_names and is_under(self.text, "test"):
            return "." in self.text
        return "." in self.text and not self.text.endswith(_NOT_PUBLIC)


def is_under(name: str, suffix: str) -> bool:
    return name == suffix or name.endswith("." + suffix)


def parse_host(text: str, *, of_a_page: bool = False) -> Host:
    """The host part of an authority, as one identity. `of_a_page` also takes underscores anywhere, and hyphens at the
    ends of labels. Raises `BadHost`.
    """
    if text.startswith("["):
        return Host(_ipv6(text), is_address=True)
    name = _ascii(text).lower()
    if name.endswith("."):
        raise BadHost("Write the host without a dot at its end.")
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return Host(_ipv4(text), is_address=True)
    label_of_its_kind = _LABEL_OF_A_PAGE if of_a_page else _LABEL
    if len(name) > _MAX_NAME_CHARACTERS or not all(label_of_its_kind.fullmatch(label) for label in labels):
        raise BadHost("The host is not a DNS name.")
    return Host(name, is_address=False)


def _ascii(text: str) -> str:
    if text.isascii():
        return text
    if len(text) > _MAX_NAME_CHARACTERS:
        raise BadHost("The host is not a DNS name.")  # its xn-- form would be longer still, and slow to find
    if not _AMBIGUOUS.isdisjoint(text):
        raise BadHost("Write this internationalised host in its xn-- form: its letters can mean two hosts.")
    if any(map(in_table_b1, text)):
        raise BadHost("The host has invisible characters.")  # they would vanish, and leave another name
    try:
        return text.encode("idna").decode("ascii")
    except UnicodeError:
        raise BadHost("Write this internationalised host in its xn-- form.") from None


def _ipv4(text: str) -> str:
    """Takes the text as it was typed: digits of other scripts are no spelling of an address."""
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        raise BadHost("Write an IPv4 address as four decimal numbers.") from None


def _ipv6(text: str) -> str:
    if not text.endswith("]") or "%" in text:
        raise BadHost("The host is not an IPv6 address without a zone.")
    try:
        address = ipaddress.IPv6Address(text[1:-1])
    except ValueError:
        raise BadHost("The host is not an IPv6 address.") from None
    if address.ipv4_mapped is not None:
        raise BadHost("Write an IPv4 address as four decimal numbers.")  # one address, one spelling
    return str(address)
