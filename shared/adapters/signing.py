"""Signature Version 4: who asks, and that nothing of what is asked was changed on the way.

For requests as the services here have them: POST to the root of a host, without a query. The signature covers the body
and every header given.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

_ALGORITHM: Final = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True)
class AccessKey:
    """`token` comes with a key that is valid for some time only."""

    key_id: str
    secret: str = field(repr=False)
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a signature counts."""

    region: str
    service: str


def signed(headers: Mapping[str, str], body: bytes, *, key: AccessKey, scope: Scope, at_s: float) -> dict[str, str]:
    """The headers and those that make the request authentic at this time (seconds since 1970). Names in `headers` are
    in lower case; `host` has to be among them.
    """
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at_s))
    day = moment[:8]
    stated = {**headers, "x-amz-date": moment}
    if key.token:
        stated["x-amz-security-token"] = key.token
    names = sorted(stated)
    listed = ";".join(names)
    lines = "".join([f"{name}:{' '.join(stated[name].split())}\n" for name in names])
    request = f"POST\n/\n\n{lines}\n{listed}\n{hashlib.sha256(body).hexdigest()}"
    where = f"{day}/{scope.region}/{scope.service}/aws4_request"
    claim = f"{_ALGORITHM}\n{moment}\n{where}\n{hashlib.sha256(request.encode()).hexdigest()}"
    signature = hmac.digest(_signing_key(key.secret, day, scope), claim.encode(), "sha256").hex()
    stated["authorization"] = (
        f"{_ALGORITHM} Credential={key.key_id}/{where}, SignedHeaders={listed}, Signature={signature}"
    )
    return stated


@lru_cache(maxsize=8)
def _signing_key(secret: str, day: str, scope: Scope) -> bytes:
    """Good for a day."""
    made = f"AWS4{secret}".encode()
    for part in (day, scope.region, scope.service, "aws4_request"):
        made = hmac.digest(made, part.encode(), "sha256")
    return made
