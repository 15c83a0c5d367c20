"""Telling that two credentials are the same one, by a key of this installation's own."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Final

from shared.adapters.attributes import blob, blob_of
from shared.adapters.conditions import no_row_yet
from shared.adapters.failures import CONDITION_FAILED, code_of, of_store, store_unavailable
from shared.adapters.keys import ONLY, PARTITION_KEY, key_of
from shared.adapters.rows import row
from shared.adapters.service_faults import ServiceRefusal
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread

FINGERPRINT_KEY: Final = "FINGERPRINT_KEY"
_BYTES = 32


class DynamoCredentialKeys:
    """Implements `ports.credential_keys.CredentialKeys`. The key is made by whoever needs it first, and never again."""

    def __init__(self, client: DynamoDBClient, *, table: str) -> None:
        self._client = client
        self._table = table
        self._key: bytes | None = None

    async def key_of(self, *, credential: str) -> str:
        if self._key is None:
            self._key = await in_thread(self._kept_key)
        return hmac.new(self._key, credential.strip().encode(), hashlib.sha256).hexdigest()

    def _kept_key(self) -> bytes:
        """What another process has written in between counts."""
        item = row(self._client, self._table, FINGERPRINT_KEY, ONLY)
        if item is None:
            self._make()
            item = row(self._client, self._table, FINGERPRINT_KEY, ONLY)
        try:
            key = blob_of(item or {}, "key")
        except (KeyError, TypeError, ValueError):
            raise store_unavailable() from None
        if len(key) != _BYTES:
            raise store_unavailable()
        return key

    @of_store
    def _make(self) -> None:
        try:
            self._client.put_item(
                TableName=self._table,
                Item={**key_of(FINGERPRINT_KEY, ONLY), "key": blob(secrets.token_bytes(_BYTES))},
                ConditionExpression=no_row_yet,
                ExpressionAttributeNames={"#pk": PARTITION_KEY},
            )
        except ServiceRefusal as refusal:
            if code_of(refusal) != CONDITION_FAILED:  # another process was quicker
                raise
