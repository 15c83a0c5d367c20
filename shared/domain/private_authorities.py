"""Certificates that an operator gives for a server of their own."""

from __future__ import annotations

import base64
import re
import ssl
from typing import Final

from shared.errors import Invalid

MAX_AUTHORITY_CHARACTERS: Final = 16_384
_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,40})-----\r?\n([A-Za-z0-9+/=\s]{1,16384})-----END \1-----")
_LONG: Final = 0x80  # from here on, a length's first byte tells how many more it has
_LONG_HEADER_BYTES: Final = 4
_MARK = re.compile(r"-----(?:BEGIN|END) ")


def checked_authority(pem: str) -> str:
    """The certificates in `pem`, and nothing else of it, each as one block of lines. Whether one of them is what the
    server needs shows when it is connected to.

    Raises `Invalid` (`invalid_private_authority`) for anything that is no certificate, above all a private key.
    """
    if len(pem) > MAX_AUTHORITY_CHARACTERS:
        raise _invalid(f"Certificates have at most {MAX_AUTHORITY_CHARACTERS:,} characters.")
    blocks = _BLOCK.findall(pem)
    if not blocks or len(_MARK.findall(pem)) != 2 * len(blocks):
        raise _invalid("Give one or more certificates in PEM form, each from its BEGIN line to its END line.")
    if any(label != "CERTIFICATE" for label, _ in blocks):
        raise _invalid("Give certificates alone. A private key belongs to the server and never leaves it.")
    try:
        certificates = [_normal(body) for _, body in blocks]
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata="".join(certificates))
    except (ssl.SSLError, ValueError):
        raise _invalid("One of these is no certificate that can be read.") from None
    return "".join(certificates)


def _normal(body: str) -> str:
    der = base64.b64decode("".join(body.split()), validate=True)
    if len(der) != _length_said(der):
        raise ValueError("there is more, or less, than one certificate")
    return ssl.DER_cert_to_PEM_cert(der)


def _length_said(der: bytes) -> int:
    """Of the outermost element: its header, and what the header says comes after it. Readers ignore what is behind."""
    if len(der) < _LONG_HEADER_BYTES or der[1] < _LONG:
        return 0  # no certificate is as short as that
    size_bytes = der[1] - _LONG
    return 2 + size_bytes + int.from_bytes(der[2 : 2 + size_bytes])


def _invalid(detail: str) -> Invalid:
    return Invalid(detail, code="invalid_private_authority")
