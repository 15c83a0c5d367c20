"""Keeps the gateway administrable: root, or an admin credential that works and does not end by itself, always stays.

Each guard is a part of the transaction that it guards, so that two admins cannot remove each other.
"""

from __future__ import annotations

from typing import Final

from shared.adapters.attributes import Item, flag, flag_of, number, optional, text, whole_of
from shared.adapters.conditions import is_unchanged
from shared.adapters.conditions import no_row_yet as never_switched
from shared.adapters.credential_items import CREDENTIALS, credential_of
from shared.adapters.failures import store_unavailable
from shared.adapters.keys import ONLY, key_of
from shared.adapters.rows import row, rows
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.adapters.transactions import Part, check, moved, put, refused_as
from shared.adapters.unreadable import readable
from shared.domain.credentials import CredentialStatus
from shared.domain.root import RootSwitch
from shared.errors import Conflict, PreconditionFailed

ROOT: Final = "ROOT"

_FIRST: Final = RootSwitch()
_is_the_first = "attribute_not_exists(#generation)"  # no row, or one from before there were generations
_is_on = "#enabled = :on"
_is_active = "#status = :active"
_is_endless = "attribute_not_exists(#valid_until)"
_credential = readable(credential_of)


class AdminGuard:
    def __init__(self, client: DynamoDBClient, *, table: str) -> None:
        self._client = client
        self._table = table

    async def root_switch(self) -> RootSwitch:
        item = await in_thread(row, self._client, self._table, ROOT, ONLY)
        try:
            return _switch_of(item) if item else _FIRST
        except (KeyError, TypeError, ValueError):
            raise store_unavailable() from None

    def switched(self, switch: RootSwitch, *, expected_generation: int) -> Part:
        """Refused with `PreconditionFailed` once somebody else has switched it."""
        is_first = expected_generation == _FIRST.generation
        item = {**key_of(ROOT, ONLY), "enabled": flag(switch.is_on), "generation": number(switch.generation)}
        return put(
            self._table,
            item,
            condition=_is_the_first if is_first else is_unchanged,
            values=None if is_first else {":expected": number(expected_generation)},
            refusal=refused_as(_switched_meanwhile),
        )

    async def somebody_stays(self, leaving_id: str) -> Part:
        """Holds when root is on, or another admin is there besides `leaving_id`. Raises `Conflict` (`last_admin`)."""
        if not (await self.root_switch()).is_on:
            return await self.another_admin(leaving_id)
        condition = f"{never_switched} OR {_is_on}"
        return check(
            self._table,
            key_of(ROOT, ONLY),
            condition=condition,
            values={":on": flag(value=True)},
            refusal=refused_as(moved),
        )

    async def another_admin(self, leaving_id: str | None = None) -> Part:
        """Holds while one particular admin credential is there. Raises `Conflict` (`last_admin`)."""
        admin_id = await in_thread(self._lasting_admin_besides, leaving_id)
        if admin_id is None:
            raise Conflict("First create an admin credential that has no end.", code="last_admin")
        return check(
            self._table,
            key_of(CREDENTIALS, admin_id),
            condition=f"{_is_active} AND {_is_endless}",
            values={":active": text(CredentialStatus.ACTIVE)},
            refusal=refused_as(moved),
        )

    def _lasting_admin_besides(self, leaving_id: str | None) -> str | None:
        for item in rows(self._client, self._table, CREDENTIALS):
            credential = _credential(item)
            if credential and credential.id != leaving_id and credential.is_lasting_admin:
                return credential.id
        return None


def _switch_of(item: Item) -> RootSwitch:
    generation = optional(item, "generation", whole_of) or _FIRST.generation
    return RootSwitch(is_on=flag_of(item, "enabled"), generation=generation)


def _switched_meanwhile() -> PreconditionFailed:
    return PreconditionFailed("Read it again, then decide.")
