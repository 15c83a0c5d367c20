"""Signing, checked against a reference verifier that was written from the rules and takes bytes alone."""

from __future__ import annotations

import hashlib
import hmac
import json
import re

import pytest

from shared.domain.registrations import SigningSecrets
from shared.domain.signatures import sign, signature_header

OLD, NEW, OTHER = ("kgs_" + letter * 64 for letter in "abc")
BODY = '{"q":"50% off — naïve café","n":1.0}'.encode()


def verifies(header: str, body: bytes, *, secret: str, now: int) -> bool:
    """A provider's side: strict digits, each of `t` and `n` once, any of the `v1` values, 300 seconds."""
    pairs = [part.strip(" ").partition("=")[::2] for part in header.split(",")]
    times, nonces = [v for k, v in pairs if k == "t"], [v for k, v in pairs if k == "n"]
    if len(times) != 1 or len(nonces) != 1 or not re.fullmatch(r"[0-9]{1,12}", times[0], re.ASCII):
        return False
    expected = hmac.new(secret.encode(), f"{times[0]}.{nonces[0]}.".encode() + body, hashlib.sha256).hexdigest()
    signed = any(hmac.compare_digest(expected, value) for name, value in pairs if name == "v1")
    return signed and abs(now - int(times[0])) <= 300


def header_of(secrets: SigningSecrets, *, body: bytes = BODY) -> str:
    return signature_header(secrets, timestamp=1_790_000_000, nonce="7f3c", body=body)


def test_a_signature_is_the_hmac_of_time_nonce_and_raw_bytes() -> None:
    # Made with: printf '1790000000.7f3c.{"query":"x"}' | openssl dgst -sha256 -hmac kgs_secret
    expected = "fb450d7021cde08d68034fbd779c7e59bb4c10ec685a18d9c109f4fbde66f440"
    assert sign("kgs_secret", timestamp=1_790_000_000, nonce="7f3c", body=b'{"query":"x"}') == expected


def test_a_get_is_signed_over_no_bytes() -> None:
    header = header_of(SigningSecrets(NEW), body=b"")
    assert verifies(header, b"", secret=NEW, now=1_790_000_000)


def test_one_secret_gives_one_signature() -> None:
    assert re.fullmatch(r"t=1790000000,n=7f3c,v1=[0-9a-f]{64}", header_of(SigningSecrets(NEW)))


def test_during_a_rotation_holders_of_either_secret_accept() -> None:
    header = header_of(SigningSecrets(NEW, OLD))
    assert re.fullmatch(r"t=1790000000,n=7f3c,v1=[0-9a-f]{64},v1=[0-9a-f]{64}", header)
    assert verifies(header, BODY, secret=OLD, now=1_790_000_000)
    assert verifies(header, BODY, secret=NEW, now=1_790_000_000)
    assert not verifies(header, BODY, secret=OTHER, now=1_790_000_000)


@pytest.mark.parametrize("previous", [None, "", NEW])
def test_a_missing_or_identical_previous_secret_is_not_signed_with(previous: str | None) -> None:
    assert header_of(SigningSecrets(NEW, previous)).count("v1=") == 1


def test_the_signature_fits_the_bytes_and_no_other_spelling_of_them() -> None:
    header = header_of(SigningSecrets(NEW))
    escaped = json.dumps(json.loads(BODY)).encode()
    assert verifies(header, BODY, secret=NEW, now=1_790_000_000)
    for other in (escaped, BODY + b"\n", BODY.replace(b",", b", "), b""):
        assert not verifies(header, other, secret=NEW, now=1_790_000_000)


def test_the_key_is_the_secrets_text_with_every_character_of_it() -> None:
    assert header_of(SigningSecrets(NEW)) != header_of(SigningSecrets(NEW + "\n"))


def test_secrets_are_not_shown_by_their_holder() -> None:
    assert NEW not in repr(SigningSecrets(NEW, OLD))
    assert OLD not in repr(SigningSecrets(NEW, OLD))
