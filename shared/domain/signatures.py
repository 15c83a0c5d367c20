"""Signing what is sent to a provider.

    X-Helpthread-Signature: t=<unix seconds>,n=<nonce>,v1=<hex>[,v1=<hex of the previous secret>]

`v1` is HMAC-SHA256 over `t.n.` followed by the raw body bytes; the key is the UTF-8 text of the secret as it was shown.
Method and path are not signed: one secret belongs to one endpoint.
"""

from __future__ import annotations

import hashlib
import hmac

from shared.domain.registrations import SigningSecrets


def sign(secret: str, *, timestamp: int, nonce: str, body: bytes) -> str:
    """One signature, as 64 lower-case hex digits. `body` is exactly what is sent; a GET signs no bytes at all."""
    return hmac.new(secret.encode(), f"{timestamp}.{nonce}.".encode() + body, hashlib.sha256).hexdigest()


def signature_header(secrets: SigningSecrets, *, timestamp: int, nonce: str, body: bytes) -> str:
    """The header's value: one signature, or two inside a rotation window, the current secret's first."""
    keys = [secrets.current]
    if secrets.previous and secrets.previous != secrets.current:
        keys.append(secrets.previous)
    signatures = [f"v1={sign(key, timestamp=timestamp, nonce=nonce, body=body)}" for key in keys]
    return ",".join([f"t={timestamp}", f"n={nonce}", *signatures])
