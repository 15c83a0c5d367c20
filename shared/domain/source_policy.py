"""Which sources a live service may cite or fetch for us: https pages of hosts that an operator approved, and no page
whose address carries a credential. Judged by shape and name; no look-up is made here.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from shared.domain.hosts import BadHost, parse_host
from shared.domain.live_configs import SourcePolicy
from shared.domain.urls import MAX_URL_CHARACTERS, citation_url
from shared.errors import Invalid

MOST_PARAMETERS: Final = 50  # of one URL; one with more is no source
_MAX_HOST_CHARACTERS: Final = 253
_MOST_CHARACTERS: Final = 2 * MAX_URL_CHARACTERS  # before anything else: a fragment may follow the longest URL
_HOST = re.compile(r"https://([^/?#]+)", re.IGNORECASE | re.ASCII)
_INTERNATIONAL: Final = "xn--"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]|%(?:[01][0-9A-Fa-f]|7[fF]|[cC]2%[89][0-9A-Fa-f])")
_HTTP = re.compile(r"https?://", re.IGNORECASE | re.ASCII)
_WITH_PORT = re.compile(r"[a-z]+://[^/?#]*:", re.IGNORECASE | re.ASCII)
_NORMAL = re.compile(r"https://([^/?]+)([^?]*)(\?.*)?", re.ASCII)
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}", re.ASCII)
# Paths have parameters too, after a semicolon; and a value may be another URL with its own.
_IN_PATH = re.compile(r";([^;=/]+)", re.ASCII)
_IN_QUERY = re.compile(r"[?&;]([^?&;=]+)", re.ASCII)
_BETWEEN: Final = "\ud800"  # between names: no decoding ever yields it
_NOT_A_LETTER = re.compile(rf"[^a-z0-9{_BETWEEN}]+", re.ASCII)
_CREDENTIAL_PART = re.compile(
    "token|secret|passw|passphrase|credential|signature|apikey|accesskey|authkey|privatekey|subscriptionkey"
    "|authorization|sessionid|sessid"
)
_CREDENTIAL_NAMES: Final = frozenset(
    {
        "key",
        "pass",
        "pwd",
        "pw",
        "psw",
        "auth",
        "oauth",
        "bearer",
        "jwt",
        "sig",
        "sid",
        "session",
        "cookie",
        "keypairid",
    }
)
_WHAT_A_SOURCE_IS: Final = (
    "Write the https URL of a page on a public host: no address literal, user name, port, control character or "
    "parameter that looks like a credential; at most 50 parameters and 2,048 characters."
)


def approved_url(text: str, policy: SourcePolicy, *, allow_test_names: bool) -> str | None:
    """The normal form of a source's URL, without its fragment, or None for one that may not be cited or fetched.

    https; exactly an approved host, which is a public DNS name; no userinfo, no port; no parameter that looks like a
    credential; no control characters, encoded ones included. `allow_test_names` also takes hosts under `.test`.
    """
    if len(text) > _MOST_CHARACTERS or not _may_be_approved(text, policy):
        return None
    url = _normal(text, allow_test_names=allow_test_names)
    return url if url is not None and policy.approves(host_of(url)) else None


def requested_url(text: str) -> str:
    """The normal form of a URL that a caller wants fetched; whose host may be asked is decided with `approved_url`.
    Raises `Invalid` (`invalid_source_url`).
    """
    url = _normal(text, allow_test_names=True)
    if url is None:
        raise Invalid(_WHAT_A_SOURCE_IS, code="invalid_source_url")
    return url


def checked_host(text: str, *, allow_test_names: bool) -> str:
    """A host as it is approved: one exact public DNS name, lower case, in its `xn--` form where it is international.
    `allow_test_names` also takes names under `.test`. Raises `Invalid`; its words repeat nothing of the text.
    """
    if len(text) > _MAX_HOST_CHARACTERS:
        raise Invalid(f"A host has at most {_MAX_HOST_CHARACTERS} characters.")
    try:
        host = parse_host(text)
    except BadHost as error:
        raise Invalid(error.reason) from None
    if host.is_address or not host.is_public(allow_test_names=allow_test_names):
        raise Invalid("Approve hosts by their full public DNS names: docs.example.com.")
    return host.text


def host_of(url: str) -> str:
    """The host of a URL in its normal form."""
    match = _NORMAL.fullmatch(url)
    return match[1] if match else ""


def is_web_url(text: str) -> bool:
    """Whether this was meant as the address of a page, be it a good one or not."""
    return _HTTP.match(text) is not None


def final_url(asked: str, reported: str, policy: SourcePolicy, *, allow_test_names: bool) -> str | None:
    """Where a text comes from that was asked for under `asked` (in its normal form): `asked` itself where the reported
    URL only adds or drops a slash at the end of the path, else the reported one; None where that is not approved.
    """
    url = approved_url(reported, policy, allow_test_names=allow_test_names)
    return asked if url is not None and _without_last_slash(url) == _without_last_slash(asked) else url


def _may_be_approved(text: str, policy: SourcePolicy) -> bool:
    """False for most strangers, at next to no cost, and for more parameters than a source has. A name in letters beyond
    ASCII is only turned into its `xn--` form where some approved host has one, which is longer.
    """
    if sum(map(text.count, "?&;")) > MOST_PARAMETERS or (match := _HOST.match(text)) is None:
        return False
    host = match[1]
    if host.isascii():
        return policy.approves(host.lower())
    international = [approved for approved in policy.approved_hosts if _INTERNATIONAL in approved]
    return any(len(host) <= len(approved) for approved in international)


def _normal(text: str, *, allow_test_names: bool) -> str | None:
    if len(text) > _MOST_CHARACTERS or _CONTROL.search(text) or _WITH_PORT.match(text):
        return None
    shown = citation_url(text.partition("#")[0], allow_test_names=allow_test_names)
    match = _NORMAL.fullmatch(shown) if shown else None
    if match is None or _is_address(match[1]):
        return None
    host, path, query = match.groups(default="")
    names = _IN_PATH.findall(path) + _IN_QUERY.findall(query)
    if len(names) > MOST_PARAMETERS or _look_like_credentials(names):
        return None
    return _ESCAPE.sub(lambda escape: escape[0].upper(), f"https://{host}{path or '/'}{query}")


def _is_address(host: str) -> bool:
    return parse_host(host).is_address


def _look_like_credentials(parameters: list[str]) -> bool:
    """Whether any of these names does, judged all at once."""
    names = _NOT_A_LETTER.sub("", unquote(unquote(_BETWEEN.join(parameters))).lower())
    return bool(_CREDENTIAL_PART.search(names)) or not _CREDENTIAL_NAMES.isdisjoint(names.split(_BETWEEN))


def _without_last_slash(url: str) -> tuple[str, str]:
    path, mark, query = url.partition("?")
    return path.removesuffix("/"), mark + query
