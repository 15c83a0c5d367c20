"""The index of web origins: a row for each origin of each active widget credential."""

from __future__ import annotations

import math
from typing import Final

from shared.adapters.attributes import Item, NewItem, number, number_of
from shared.adapters.keys import EXPIRES_AT, key_of
from shared.adapters.rows import rows
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.domain.credentials import Credential, CredentialStatus
from shared.domain.exposure import CredentialClass
from shared.ports.clock import Clock

ORIGIN: Final = "ORIGIN#"
_MAX_ORIGIN_CHARACTERS = 300  # a host name has at most 253


class DynamoOrigins:
    """Implements `ports.origins.Origins`."""

    def __init__(self, client: DynamoDBClient, *, table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    async def is_listed(self, origin: str) -> bool:
        if not origin or len(origin) > _MAX_ORIGIN_CHARACTERS:
            return False
        return await in_thread(self._has_valid_row, origin)

    def _has_valid_row(self, origin: str) -> bool:
        now = self._clock.now()
        return any(_is_valid_at(now, item) for item in rows(self._client, self._table, ORIGIN + origin))


def rows_of(credential: Credential) -> dict[str, NewItem]:
    """The rows that a credential should have, by origin: none unless it is an active widget credential."""
    is_widget = credential.credential_class is CredentialClass.PUBLIC
    if not is_widget or credential.status is not CredentialStatus.ACTIVE:
        return {}
    return {origin: _row_of(credential, origin) for origin in credential.origins}


def _row_of(credential: Credential, origin: str) -> NewItem:
    item: NewItem = dict(key_of(ORIGIN + origin, credential.id))
    if credential.expires_at is not None:
        item["valid_until"] = number(credential.expires_at)
        item[EXPIRES_AT] = number(math.ceil(credential.expires_at))
    return item


def _is_valid_at(now: float, item: Item) -> bool:
    return "valid_until" not in item or number_of(item, "valid_until") > now
