"""The contract's signature, both ways: made as the gateway makes it, and verified as a provider has to."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Collection, Iterable

TOLERANCE_S = 300
_MAX_HEADER_CHARACTERS = 1024
_MAX_ITEMS = 16
_NAME = re.compile(r"[a-z][a-z0-9]{0,15}", re.ASCII)
_SHAPES = {
    "t": re.compile(r"[0-9]{1,12}", re.ASCII),
    "n": re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII),
    "v1": re.compile(r"[0-9a-f]{64}", re.ASCII),
}


def sign(secret: str, *, timestamp: int, nonce: str, body: bytes) -> str:
    """One `v1` value: 64 lower-case hex digits."""
    return hmac.new(secret.encode(), f"{timestamp}.{nonce}.".encode() + body, hashlib.sha256).hexdigest()


def header(values: Iterable[str], *, timestamp: int, nonce: str, separator: str = ",") -> str:
    """The header with these `v1` values, in this order."""
    return separator.join([f"t={timestamp}", f"n={nonce}", *(f"v1={value}" for value in values)])


def judge(text: str, body: bytes, *, secrets: Iterable[str], now: int, seen: Collection[str] = ()) -> str:
    """One word: `ok`, `malformed`, `clock`, `mismatch` or `replayed`. Whoever reads `ok` remembers the nonce."""
    items = _items(text)
    if items is None:
        return "malformed"
    timestamp, nonce = int(items["t"][0]), items["n"][0]
    if abs(now - timestamp) > TOLERANCE_S:
        return "clock"
    expected = [sign(secret, timestamp=timestamp, nonce=nonce, body=body) for secret in secrets]
    fits = [hmac.compare_digest(value, good) for value in items["v1"] for good in expected]
    if not any(fits):
        return "mismatch"
    return "replayed" if nonce in seen else "ok"


def _items(text: str) -> dict[str, list[str]] | None:
    """The values by name, or None for a header that is out of shape."""
    parts = text.split(",")
    if len(text) > _MAX_HEADER_CHARACTERS or len(parts) > _MAX_ITEMS:
        return None
    found: dict[str, list[str]] = {"t": [], "n": [], "v1": []}
    for part in parts:
        name, equals, value = part.strip(" ").partition("=")
        if not equals or "=" in value or not value or not _NAME.fullmatch(name):
            return None
        found.setdefault(name, []).append(value)
    is_shaped = all(shape.fullmatch(value) for name, shape in _SHAPES.items() for value in found[name])
    is_counted = len(found["t"]) == 1 and len(found["n"]) == 1 and found["v1"]
    return found if is_shaped and is_counted else None
