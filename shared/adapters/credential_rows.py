"""Which instances and providers have which credential, by its key: no two exposure profiles ever have the same one."""

from __future__ import annotations

from typing import Final

from shared.adapters.attributes import Item, NewItem, number, text
from shared.adapters.conditions import no_row_yet
from shared.adapters.keys import key_of
from shared.adapters.rows import row
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.adapters.transactions import Part, delete, moved, refused_as, update
from shared.domain.exposure import ExposureProfile
from shared.domain.registrations import SealedSecret
from shared.errors import Conflict

CREDENTIAL_USES: Final = "INSTANCE_CREDENTIAL"
CREDENTIAL_KEY: Final = "credential_key"  # of an instance's or a provider's own item

_is_of_this_profile = "#exposure_profile = :profile"
_joins = "SET #exposure_profile = :profile ADD #owner_ids :owner"
_leaves = "DELETE #owner_ids :owner"
_has_others = "contains(#owner_ids, :id) AND size(#owner_ids) > :one"
_has_no_others = "contains(#owner_ids, :id) AND size(#owner_ids) = :one"


class CredentialRows:
    """`table` is one for both exposure profiles: where else would a use by the other one show?"""

    def __init__(self, client: DynamoDBClient, *, table: str) -> None:
        self._client = client
        self._table = table

    async def settled(
        self, owner_id: str, profile: ExposureProfile, *, before: str | None, after: str | None
    ) -> list[Part]:
        """What moves the use by one owner from one key to another; None is no credential."""
        if before == after:
            return []
        taken = [] if after is None else [self._taken(after, owner_id, profile)]
        return taken if before is None else [*taken, await self._given_up(before, owner_id)]

    def _taken(self, key: str, owner_id: str, profile: ExposureProfile) -> Part:
        return update(
            self._table,
            key_of(CREDENTIAL_USES, key),
            change=_joins,
            condition=f"{no_row_yet} OR {_is_of_this_profile}",
            values={":profile": text(profile), ":owner": {"SS": [owner_id]}},
            refusal=refused_as(_used_elsewhere),
        )

    async def _given_up(self, key: str, owner_id: str) -> Part:
        """The row goes with its last owner; should another have come or gone since, nothing is written (`Moved`)."""
        place, values = key_of(CREDENTIAL_USES, key), {":id": text(owner_id), ":one": number(1)}
        stored = await in_thread(row, self._client, self._table, CREDENTIAL_USES, key) or {}
        if len(stored.get("owner_ids", {}).get("SS", ())) <= 1:
            return delete(self._table, place, condition=_has_no_others, values=values, refusal=refused_as(moved))
        return update(
            self._table,
            place,
            change=_leaves,
            condition=_has_others,
            values=values | {":owner": {"SS": [owner_id]}},
            refusal=refused_as(moved),
        )


def item_of_key(key: str | None) -> NewItem:
    return {} if key is None else {CREDENTIAL_KEY: text(key)}


def key_in(stored: Item) -> str | None:
    """Of an instance or a provider as it is stored, which need not be readable."""
    return stored.get(CREDENTIAL_KEY, {}).get("S")


def key_after(credential: SealedSecret | None, *, given: str | None, stored: str | None) -> str | None:
    """The key that a thing has after a write. Raises `ValueError` for a credential without one: nothing would notice
    that the other exposure profile has it too.
    """
    if credential is None:
        return None
    if (key := given or stored) is None:
        raise ValueError("a credential comes with its key")
    return key


def _used_elsewhere() -> Conflict:
    return Conflict(
        "The other exposure profile uses this credential, on this server or another. Each profile needs a credential "
        "of its own, which reaches what that profile may show.",
        code="credential_used_elsewhere",
    )
