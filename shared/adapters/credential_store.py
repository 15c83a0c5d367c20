"""Reading and writing credentials. Every write is one transaction."""

from __future__ import annotations

import asyncio

from shared.adapters import credential_items, origins
from shared.adapters.admin_guard import AdminGuard
from shared.adapters.attributes import number
from shared.adapters.company import audited, changed_or_gone, id_taken, once
from shared.adapters.conditions import is_unchanged, no_row_yet
from shared.adapters.credential_items import CREDENTIALS
from shared.adapters.keys import key_of
from shared.adapters.pages import page_over
from shared.adapters.rows import row
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.adapters.transactions import Moved, Part, busy, commit, delete, put, refused_as
from shared.adapters.unreadable import readable
from shared.domain.changes import Change
from shared.domain.credentials import MAX_ORIGINS_PER_CREDENTIAL, Credential
from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import ROOT_ID, is_credential_id
from shared.domain.pages import Page
from shared.domain.root import RootSwitch
from shared.errors import NotFound
from shared.ports.clock import Clock

_PLANS = 4
_credential = readable(credential_items.credential_of)
_never = refused_as(busy)  # of parts without a condition


class DynamoCredentialStore:
    """Implements `ports.credential_store.CredentialStore`: widget credentials lie in the public table, all others in
    the internal one.

    While root is switched off, the last admin credential that works and does not end by itself cannot be deleted,
    disabled or given an end: `Conflict` (`last_admin`).
    """

    def __init__(
        self, client: DynamoDBClient, *, public_table: str, internal_table: str, idempotency_table: str, clock: Clock
    ) -> None:
        self._client = client
        self._public_table = public_table
        self._internal_table = internal_table
        self._idempotency_table = idempotency_table
        self._clock = clock
        self._guard = AdminGuard(client, table=internal_table)

    async def get(self, credential_id: str) -> Credential | None:
        if credential_id == ROOT_ID or not is_credential_id(credential_id):
            return None
        found = await asyncio.gather(
            *(in_thread(row, self._client, table, CREDENTIALS, credential_id) for table in self._both())
        )
        item = next((item for item in found if item), None)
        return _credential(item) if item else None

    async def page(self, *, limit: int, after: str | None) -> Page[Credential]:
        return await page_over(
            self._client,
            self._both(),
            CREDENTIALS,
            read=_credential,
            sort_key=lambda one: one.id,
            limit=limit,
            after=after,
        )

    async def create(self, credential: Credential, change: Change) -> None:
        item = credential_items.item_of(credential)
        parts = [
            put(self._table_of(credential), item, condition=no_row_yet, refusal=refused_as(id_taken)),
            *self._origin_parts(None, credential),
        ]
        await self._commit(parts, change)

    async def replace(self, credential: Credential, *, expected_generation: int, change: Change) -> None:
        if credential.generation != expected_generation + 1:
            raise ValueError("the generation must be the expected one plus one")
        write = put(
            self._table_of(credential),
            credential_items.item_of(credential),
            condition=is_unchanged,
            values={":expected": number(expected_generation)},
            refusal=changed_or_gone,
        )
        await self._exchange(credential, credential, write, change)

    async def delete(self, credential: Credential, *, expected_generation: int, change: Change) -> None:
        write = delete(
            self._table_of(credential),
            key_of(CREDENTIALS, credential.id),
            condition=is_unchanged,
            values={":expected": number(expected_generation)},
            refusal=changed_or_gone,
        )
        await self._exchange(credential, None, write, change)

    async def root_switch(self) -> RootSwitch:
        return await self._guard.root_switch()

    async def switch_root(self, switch: RootSwitch, *, expected_generation: int, change: Change) -> None:
        if switch.generation != expected_generation + 1:
            raise ValueError("the generation must be the expected one plus one")
        write = self._guard.switched(switch, expected_generation=expected_generation)
        for _ in range(_PLANS):
            guards = [] if switch.is_on else [await self._guard.another_admin()]
            try:
                return await self._commit([write, *guards], change)
            except Moved:
                continue
        raise busy()

    async def _exchange(self, named: Credential, after: Credential | None, write: Part, change: Change) -> None:
        """Replaces or deletes `named`. What is read first is held to by the generation that the write expects."""
        for _ in range(_PLANS):
            stored = await self.get(named.id)
            if stored is None:
                raise NotFound("There is no such credential.")
            if stored.credential_class is not named.credential_class:
                raise ValueError("a credential keeps its class")
            leaves = stored.is_lasting_admin and not (after and after.is_lasting_admin)
            guards = [await self._guard.somebody_stays(named.id)] if leaves else []
            try:
                return await self._commit([write, *guards, *self._origin_parts(stored, after)], change)
            except Moved:
                continue
        raise busy()

    async def _commit(self, parts: list[Part], change: Change) -> None:
        first = once(change, table=self._idempotency_table, now=self._clock.now())
        await commit(self._client, [*first, *parts, audited(change, table=self._internal_table)])

    def _origin_parts(self, stored: Credential | None, after: Credential | None) -> list[Part]:
        """The index rows of `after` are written anew; those of `stored` that it no longer has are deleted."""
        wanted = origins.rows_of(after) if after else {}
        if len(wanted) > MAX_ORIGINS_PER_CREDENTIAL:
            raise ValueError("too many origins for one transaction")
        gone = set(stored.origins) - wanted.keys() if stored else set()
        return [
            *(put(self._public_table, item, refusal=_never) for item in wanted.values()),
            *(
                delete(self._public_table, key_of(origins.ORIGIN + origin, stored.id), refusal=_never)
                for origin in sorted(gone)
                if stored
            ),
        ]

    def _table_of(self, credential: Credential) -> str:
        is_widget = credential.credential_class is CredentialClass.PUBLIC
        return self._public_table if is_widget else self._internal_table

    def _both(self) -> tuple[str, str]:
        return self._public_table, self._internal_table
