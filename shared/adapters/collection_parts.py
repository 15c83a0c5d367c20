"""The parts of transactions that write collections themselves."""

from __future__ import annotations

import math
from typing import Final

from shared.adapters import card_items
from shared.adapters.attributes import Item, NewItem, number, number_of, text
from shared.adapters.card_items import COLLECTIONS
from shared.adapters.card_parts import import_ended, is_active, is_gone
from shared.adapters.company import id_taken
from shared.adapters.conditions import is_unchanged, no_row_yet
from shared.adapters.keys import key_of
from shared.adapters.transactions import Part, busy, delete, put, refused_as, update
from shared.domain.cards import Collection, CollectionStatus
from shared.domain.names import name_key
from shared.errors import Conflict, GatewayError, NotFound, PreconditionFailed
from shared.ports.card_store import ImportLease

NAMES: Final = "COLLECTION_NAME"

_rename = "SET #name = :name, #generation = :generation, #updated_at = :updated_at"
_bury = "SET #status = :deleting"
_move_on_and_lease = "SET #importing_until = :until, #import_token = :token ADD #content_generation :moves"
_is_not_importing = "(attribute_not_exists(#importing_until) OR #importing_until <= :now)"
_give_back = "REMOVE #importing_until, #import_token"
_has_leased = "#import_token = :token"
_is_its_own = "#collection_id = :id"
# A lease lasts for the longest import; most take about a second, and give it back.
_COME_BACK_S = 2
_ACTIVE: NewItem = {":active": text(CollectionStatus.ACTIVE)}


def created(table: str, collection: Collection) -> list[Part]:
    item = card_items.item_of_collection(collection)
    return [put(table, item, condition=no_row_yet, refusal=refused_as(id_taken)), _name_taken_by(table, collection)]


def renamed(table: str, stored: Collection | None, collection: Collection, *, expected_generation: int) -> list[Part]:
    values = {
        **_ACTIVE,
        ":expected": number(expected_generation),
        ":name": text(collection.name),
        ":generation": number(collection.generation),
        ":updated_at": number(collection.updated_at),
    }
    write = update(
        table,
        key_of(COLLECTIONS, collection.id),
        change=_rename,
        condition=f"{is_active} AND {is_unchanged}",
        values=values,
        refusal=_changed_or_gone,
    )
    if stored is None or name_key(stored.name) == name_key(collection.name):
        return [write]
    return [write, _name_given_up(table, stored), _name_taken_by(table, collection)]


def buried(table: str, stored: Collection | None, collection: Collection, *, expected_generation: int) -> list[Part]:
    write = update(
        table,
        key_of(COLLECTIONS, collection.id),
        change=_bury,
        condition=f"{is_active} AND {is_unchanged}",
        values={**_ACTIVE, ":deleting": text(CollectionStatus.DELETING), ":expected": number(expected_generation)},
        refusal=_changed_or_gone,
    )
    return [write, *([_name_given_up(table, stored)] if stored else [])]


def leased(table: str, lease: ImportLease, *, now: float) -> Part:
    def refusal(found: Item | None) -> GatewayError:
        if found is None or is_gone(found):
            return NotFound("There is no such thing.")
        after_s = max(1, min(_COME_BACK_S, math.ceil(number_of(found, "importing_until") - now)))
        return Conflict("An import into this collection is running.", code="import_running", retry_after_s=after_s)

    return update(
        table,
        key_of(COLLECTIONS, lease.collection_id),
        change=_move_on_and_lease,
        condition=f"{is_active} AND {_is_not_importing}",
        values={
            **_ACTIVE,
            ":now": number(now),
            ":until": number(lease.until),
            ":token": text(lease.token),
            ":moves": number(1),
        },
        refusal=refusal,
    )


def given_back(table: str, lease: ImportLease) -> Part:
    return update(
        table,
        key_of(COLLECTIONS, lease.collection_id),
        change=_give_back,
        condition=f"{is_active} AND {_has_leased}",
        values={**_ACTIVE, ":token": text(lease.token)},
        refusal=lambda found: NotFound("There is no such thing.") if is_gone(found) else import_ended(),
    )


def _name_row(collection: Collection) -> NewItem:
    return key_of(NAMES, f"{collection.exposure_profile}#{name_key(collection.name)}")


def _name_taken_by(table: str, collection: Collection) -> Part:
    item = {**_name_row(collection), "collection_id": text(collection.id)}
    return put(table, item, condition=no_row_yet, refusal=refused_as(_name_taken))


def _name_given_up(table: str, stored: Collection) -> Part:
    """Should the name have changed since it was read, the generation has, and nothing is written."""
    values = {":id": text(stored.id)}
    return delete(table, _name_row(stored), condition=_is_its_own, values=values, refusal=refused_as(busy))


def _changed_or_gone(found: Item | None) -> GatewayError:
    if is_gone(found):
        return NotFound("There is no such thing.")
    return PreconditionFailed("Read it again, then decide.")


def _name_taken() -> Conflict:
    return Conflict("Another one of this exposure profile has this name.", code="name_taken")
