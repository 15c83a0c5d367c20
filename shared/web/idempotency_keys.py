"""Reading `Idempotency-Key`: 1 to 255 printable ASCII characters, chosen by the caller."""

from __future__ import annotations

import re

from shared.domain.credentials import Principal
from shared.domain.once import Once
from shared.errors import Invalid
from shared.web.events import Event, body_of

_KEY = re.compile(r"[\x20-\x7e]{1,255}", re.ASCII)


def once_of(event: Event, principal: Principal) -> Once | None:
    """What the key, the caller, the path and the body amount to; None without the header.

    Raises `Invalid` (`invalid_idempotency_key`).
    """
    key = event["headers"].get("idempotency-key")
    if key is None:
        return None
    if _KEY.fullmatch(key) is None:
        raise Invalid("An idempotency key has 1 to 255 printable ASCII characters.", code="invalid_idempotency_key")
    return Once.of(
        credential_id=principal.credential_id,
        method=event["requestContext"]["http"]["method"],
        path=event["rawPath"],
        key=key,
        body=body_of(event),
    )
