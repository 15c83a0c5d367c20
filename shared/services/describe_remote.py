"""Finds out what one knowledge base on a server is, as far as the server says."""

from __future__ import annotations

from typing import Final

from shared.domain.outcomes import OutcomeCode
from shared.domain.remote_catalogs import RemoteEntry
from shared.errors import ExchangeError, Refused
from shared.ports.knowledge_server import KnowledgeServer
from shared.services.open_server import LISTING_S, ServerLine

# Keys for searching alone may not read lists, and some servers describe nothing: such an id is taken as it was typed.
_SAYS_NOTHING: Final = frozenset({OutcomeCode.FORBIDDEN, OutcomeCode.CAPABILITY_UNAVAILABLE})


async def described(server: KnowledgeServer, remote_id: str, *, line: ServerLine) -> RemoteEntry:
    """With the id as the server writes it. Raises the `ExchangeError` family."""
    exchange = line.exchange(timeout_s=LISTING_S)
    try:
        entry = await server.detail(line.base_url, remote_id, credential=line.credential, exchange=exchange)
    except ExchangeError as error:
        if error.code in _SAYS_NOTHING:
            return RemoteEntry(id=remote_id, name=remote_id)
        raise
    if _identity(entry.id) != _identity(remote_id):
        raise Refused(OutcomeCode.INVALID_RESPONSE)
    return entry


def _identity(remote_id: str) -> str:
    """Some servers take an id in other letters, or with dashes, than they write it."""
    return remote_id.casefold().replace("-", "")
