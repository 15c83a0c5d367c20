"""URLs that an operator types or a provider sends, checked by shape and name. No look-up is made here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

from shared.domain.addresses import AddressPolicy, judge
from shared.domain.hosts import BadHost, Host, parse_host
from shared.errors import Invalid

MAX_URL_CHARACTERS = 2048
_URL = re.compile(r"(https?)://([^/?#]+)([^?#]*)(\?[^#]*)?(#.*)?", re.IGNORECASE | re.ASCII)
_AUTHORITY = re.compile(r"(\[[^\]]*\]|[^:\[\]]+)(?::([1-9][0-9]{0,4}))?", re.ASCII)
_NEVER = re.compile("[\x00-\x20\x7f-\xa0\\\\\u1680\u2000-\u200b\u2028-\u202f\u205f\u2060\u3000\ufeff\ud800-\udfff]")
# Runs of characters that stand for themselves, between encoded ones: a choice at each of them takes five times as long.
_IN_PATH, _IN_TAIL = r"[A-Za-z0-9\-._~!$&'()*+,;=:@/]*", r"[A-Za-z0-9\-._~!$&'()*+,;=:@/?\[\]#]*"
_PATH, _TAIL = (re.compile(f"{run}(?:%[0-9A-Fa-f]{{2}}{run})*", re.ASCII) for run in (_IN_PATH, _IN_TAIL))
_ENCODED_CONTROL = re.compile(r"%(?:[01][0-9A-Fa-f]|7[fF]|5[cC])")
_DOTS = re.compile(r"/(?:\.|%2[eE]){1,2}(?=/|$)")
_ASCII = bytes(range(0x80)).decode()
_ORIGINS = 1_024  # of the last passages
_DEFAULT_PORT = {"https": 443, "http": 80}


class _BadUrl(ValueError):
    """`reason` is a sentence for a person; it repeats nothing of the URL."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class _Parts:
    scheme: str
    host: Host
    port: int | None  # None for the scheme's own
    path: str
    tail: str  # query and fragment, with their marks

    @property
    def origin(self) -> str:
        port = "" if self.port is None else f":{self.port}"
        return f"{self.scheme}://{self.host.in_url}{port}"


def checked_base_url(
    text: str, *, allow_loopback_http: bool, allow_private_network: bool = False, allow_plain_http: bool = False
) -> str:
    """The URL under which a provider is asked, in its one normal form: without a slash at its end.

    https; http to a loopback host where `allow_loopback_http`, to any other where `allow_plain_http`, which is what an
    operator has acknowledged for exactly this URL; a full DNS name or an address literal that could be
    dialled under some setting. Names under `.internal` belong to private networks and need `allow_private_network`.
    Raises `Invalid` (`invalid_base_url`).
    """
    try:
        parts = _parts_of(text)
        _check_scheme(parts, allow_loopback_http=allow_loopback_http, allow_plain_http=allow_plain_http)
        _check_host(parts.host, allow_loopback=allow_loopback_http, allow_private_network=allow_private_network)
        _check_path(parts)
        return parts.origin + parts.path.rstrip("/")
    except _BadUrl as error:
        raise Invalid(error.reason, code="invalid_base_url") from None


def checked_origin(text: str, *, allow_loopback_http: bool) -> str:
    """A web origin as a browser sends it: `https://host[:port]`, lower case. No path, no wildcard, never `null`.
    Underscores are taken: browsers load pages from such hosts.

    Raises `Invalid` (`invalid_origin`).
    """
    try:
        parts = _parts_of(text, of_a_page=True)
        if parts.path or parts.tail:
            raise _BadUrl("An origin ends with its host or port: no path and no slash.")
        _check_scheme(parts, allow_loopback_http=allow_loopback_http)
        return parts.origin
    except _BadUrl as error:
        raise Invalid(error.reason, code="invalid_origin") from None


def citation_url(text: str, *, allow_test_names: bool) -> str | None:
    """A URL that may be shown beside a passage, in its normal form, or None. Never fetched by the gateway.

    https, no userinfo, a public DNS name or public address literal. Characters beyond ASCII in path, query and
    fragment are percent-encoded, and so are apostrophes, so that no quoting in HTML ends inside one; double quotes,
    angle brackets, spaces and control characters are not shown at all.
    """
    try:
        scheme, authority, path, tail = _pieces_of(text)
    except _BadUrl:
        return None
    origin = _shown_origin(scheme, authority, allow_test_names=allow_test_names)
    if origin is None or _encoded_length(path + tail) > MAX_URL_CHARACTERS:
        return None  # before the work of encoding it
    path, tail = _shown(path), _shown(tail)
    url = origin + path + tail
    is_sound = _PATH.fullmatch(path) and _TAIL.fullmatch(tail) and len(url) <= MAX_URL_CHARACTERS
    return url if is_sound else None


@lru_cache(maxsize=_ORIGINS)
def _shown_origin(scheme: str, authority: str, *, allow_test_names: bool) -> str | None:
    """The first part of the URLs of many passages: most sources are on few hosts."""
    try:
        parts = _parts(scheme, authority, "", "")
    except _BadUrl:
        return None
    is_shown = parts.scheme == "https" and parts.host.is_public(allow_test_names=allow_test_names)
    return parts.origin if is_shown else None


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the calls to one base URL go. `host` is as `Host.text`; `authority` is the value of the Host header."""

    scheme: str
    host: str
    port: int
    is_address: bool
    authority: str
    origin: str


def destination_of(base_url: str) -> Destination:
    """The destination that a checked base URL names. Raises `Invalid` (`invalid_base_url`) where it cannot be one."""
    try:
        parts = _parts_of(base_url)
    except _BadUrl as error:
        raise Invalid(error.reason, code="invalid_base_url") from None
    return Destination(
        scheme=parts.scheme,
        host=parts.host.text,
        port=parts.port or _DEFAULT_PORT[parts.scheme],
        is_address=parts.host.is_address,
        authority=parts.origin.partition("://")[2],
        origin=parts.origin,
    )


def _parts_of(text: str, *, of_a_page: bool = False) -> _Parts:
    return _parts(*_pieces_of(text), of_a_page=of_a_page)


def _pieces_of(text: str) -> tuple[str, str, str, str]:
    """Scheme, authority, path and tail as they are written."""
    if len(text) > MAX_URL_CHARACTERS:
        raise _BadUrl(f"A URL has at most {MAX_URL_CHARACTERS} characters.")
    if _NEVER.search(text):
        raise _BadUrl("A URL has no spaces, control characters or backslashes.")
    if (match := _URL.fullmatch(text)) is None:
        raise _BadUrl("Write an absolute URL: https://host/path.")
    scheme, authority, path, query, fragment = match.groups(default="")
    return scheme, authority, path, query + fragment


def _parts(scheme: str, authority: str, path: str, tail: str, *, of_a_page: bool = False) -> _Parts:
    """Path and tail are not looked into."""
    if "@" in authority:
        raise _BadUrl("A URL here carries no user name or password.")
    host, port = _host_and_port(authority, of_a_page=of_a_page)
    scheme = scheme.lower()
    return _Parts(scheme, host, None if port == _DEFAULT_PORT[scheme] else port, path, tail)


def _host_and_port(authority: str, *, of_a_page: bool) -> tuple[Host, int | None]:
    if (match := _AUTHORITY.fullmatch(authority)) is None:
        raise _BadUrl("The host or port of the URL is malformed.")
    port = int(match[2]) if match[2] else None
    if port is not None and port > 65535:
        raise _BadUrl("A port is a number from 1 to 65535.")
    try:
        return parse_host(match[1], of_a_page=of_a_page), port
    except BadHost as error:
        raise _BadUrl(error.reason) from None


def _check_path(parts: _Parts) -> None:
    if parts.tail:
        raise _BadUrl("A base URL has no query and no fragment.")
    if _PATH.fullmatch(parts.path) is None or _ENCODED_CONTROL.search(parts.path):
        raise _BadUrl("The path has characters that a URL must percent-encode, or encoded control characters.")
    if "//" in parts.path.rstrip("/") or _DOTS.search(parts.path):
        raise _BadUrl("The path has empty or dotted segments.")


def _check_scheme(parts: _Parts, *, allow_loopback_http: bool, allow_plain_http: bool = False) -> None:
    is_allowed = allow_loopback_http if parts.host.is_loopback else allow_plain_http
    if parts.scheme != "https" and not is_allowed:
        raise _BadUrl("The URL must begin with https://.")


def _check_host(host: Host, *, allow_loopback: bool, allow_private_network: bool) -> None:
    if host.is_address:
        # Whether this registration may reach a private address is decided with the look-up; here, what nobody may.
        if not judge(host.text, AddressPolicy(allow_private_network=True, allow_loopback=allow_loopback)):
            raise _BadUrl("This address is never dialled.")
    elif host.is_loopback:
        if not allow_loopback:
            raise _BadUrl("This name is never dialled.")
    elif host.is_metadata_name or not _is_full_name(host, allow_private_network=allow_private_network):
        raise _BadUrl("Write a full DNS name. Names under .internal need a private network; .local is never dialled.")


def _is_full_name(host: Host, *, allow_private_network: bool) -> bool:
    if allow_private_network and host.text.endswith(".internal"):
        return True
    return host.is_public(allow_test_names=True)


def _encoded_length(text: str) -> int:
    return 3 * len(text.encode()) - 2 * len(text.encode("ascii", "ignore"))


def _shown(part: str) -> str:
    encoded = part if part.isascii() else quote(part, safe=_ASCII)
    return encoded.replace("'", "%27")
