"""Certificates that operators give for servers of their own: certificates are kept, and nothing else is."""

from __future__ import annotations

import ssl

import pytest

from shared.domain.private_authorities import MAX_AUTHORITY_CHARACTERS, checked_authority
from shared.errors import Invalid
from tests.support.tls import TestAuthority

AUTHORITY = TestAuthority()
PEM = AUTHORITY.pem()
KEY = AUTHORITY.private_key()
BODY = PEM.split("-----")[2]


def _block(body: str, label: str = "CERTIFICATE") -> str:
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----\n"


def test_a_certificate_is_kept_and_can_be_trusted() -> None:
    kept = checked_authority(PEM)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=kept)
    assert context.cert_store_stats()["x509_ca"] == 1
    assert checked_authority(kept) == kept


def test_several_certificates_are_kept_and_what_is_around_them_is_not() -> None:
    other = TestAuthority().pem()
    typed = f"subject=CN=One\n{PEM}\r\n# and another\n" + other.replace("\n", "\r\n")
    assert checked_authority(typed) == checked_authority(PEM) + checked_authority(other)


def test_a_servers_own_certificate_may_be_given() -> None:
    _, certificate = AUTHORITY.certificate("kb.fern-desk.test")
    assert checked_authority(certificate)


REFUSED = {
    "nothing": "",
    "words": "trust me",
    "a private key": KEY,
    "a private key beside a certificate": PEM + KEY,
    "a request": _block(BODY, "CERTIFICATE REQUEST"),
    "no end": PEM.rpartition("-----END")[0],
    "an end without a beginning": PEM + "-----END CERTIFICATE-----\n",
    "an empty block": _block(""),
    "no base64": _block("!!!!"),
    "cut in the middle": _block(BODY.strip()[: len(BODY) // 2]),
    "no certificate inside": _block("AAAA"),
    "two certificates in one block": _block(BODY.strip().rstrip("=") + BODY),
    "a good one and a bad one": PEM + _block("AAAA"),
    "too much": PEM + "#" * MAX_AUTHORITY_CHARACTERS,
}


@pytest.mark.parametrize("typed", REFUSED.values(), ids=REFUSED)
def test_whatever_is_no_certificate_is_refused(typed: str) -> None:
    with pytest.raises(Invalid) as refusal:
        checked_authority(typed)
    assert refusal.value.code == "invalid_private_authority"
    assert refusal.value.detail


def test_a_refusal_repeats_nothing_of_what_was_given() -> None:
    with pytest.raises(Invalid) as refusal:
        checked_authority(KEY)
    secret = KEY.splitlines()[1]
    assert secret[:12] not in refusal.value.detail + str(refusal.value)
