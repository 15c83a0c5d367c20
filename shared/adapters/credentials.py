"""Looking up the credential that a token names, in one table."""

from __future__ import annotations

from shared.adapters.credential_items import CREDENTIALS, credential_of
from shared.adapters.row_reads import RowReads
from shared.adapters.unreadable import readable
from shared.domain.credentials import Credential
from shared.domain.identifiers import ROOT_ID, is_credential_id

_credential = readable(credential_of)


class DynamoCredentials:
    """Implements `ports.credentials.Credentials`. Root is no stored credential; a malformed id costs no read."""

    def __init__(self, reads: RowReads, *, table: str) -> None:
        self._reads = reads
        self._table = table

    async def find(self, credential_id: str) -> Credential | None:
        if credential_id == ROOT_ID or not is_credential_id(credential_id):
            return None
        item = await self._reads.row(self._table, CREDENTIALS, credential_id)
        return _credential(item) if item else None
