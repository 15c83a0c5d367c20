"""What requests to self-hosted servers have in common."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from shared.domain.outcomes import OutcomeCode
from shared.errors import Refused

_JSON: Final = "application/json"


def server_headers(credential: str | None, *, has_body: bool) -> tuple[tuple[str, str], ...]:
    """Without a credential, none is sent. One that cannot stand in a header raises `Refused` (`not_configured`)."""
    headers: tuple[tuple[str, str], ...] = (("Accept", _JSON), ("User-Agent", "knowledge-gateway/1"))
    if credential is not None:
        if not (credential.isascii() and credential.isprintable()):
            raise Refused(OutcomeCode.NOT_CONFIGURED)
        headers = (("Authorization", f"Bearer {credential}"), *headers)
    return (*headers, ("Content-Type", _JSON)) if has_body else headers


def path_segment(remote_id: str) -> str:
    """An id as one segment of a path, whatever characters it has. No id that a server knows is empty or made of dots
    alone: those raise `Refused` (`not_found`), since no encoding keeps them from naming another path.
    """
    if not remote_id.strip("."):
        raise Refused(OutcomeCode.NOT_FOUND)
    return quote(remote_id, safe="")
