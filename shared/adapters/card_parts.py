"""The parts of a transaction that writes one card: its row, its key rows, and the counts of its collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from shared.adapters import card_items
from shared.adapters.attributes import Item, NewItem, number, number_of, text
from shared.adapters.card_items import CARDS, COLLECTIONS, KEYS
from shared.adapters.company import changed_or_gone, id_taken
from shared.adapters.conditions import is_unchanged, no_row_yet
from shared.adapters.keys import key_of
from shared.adapters.transactions import Part, Refusal, delete, moved, put, refused_as, update
from shared.domain.cards import (
    MAX_CARDS_PER_COLLECTION,
    MAX_CARDS_PER_KEY,
    MAX_KEY_BYTES_PER_COLLECTION,
    MAX_KEYS_PER_COLLECTION,
    Card,
    CollectionStatus,
)
from shared.errors import Conflict, GatewayError, NotFound
from shared.ports.card_store import ImportLease

is_active: Final = "#status = :active"
_holds_the_lease = "#import_token = :token AND #importing_until > :now"
_has_room = "#card_count <= :cards_left AND #key_count <= :keys_left AND #key_bytes <= :bytes_left"
_move_on_and_count = "ADD #content_generation :moves, #card_count :cards, #key_count :keys, #key_bytes :bytes"
_has_this_card = "ADD #cards :card"
_lets_another_in = "attribute_not_exists(#cards) OR size(#cards) < :most"
_loses_this_card = "DELETE #cards :card"
_keeps_another = "contains(#cards, :id) AND size(#cards) > :one"
_has_no_other = "#cards = :card"


@dataclass(frozen=True, slots=True)
class CardWrite:
    """From what is stored (None: nothing) to what is wanted (None: nothing)."""

    before: Card | None
    after: Card | None

    @property
    def card(self) -> Card:
        card = self.after or self.before
        if card is None:
            raise ValueError("nothing to write")
        return card

    @property
    def added(self) -> list[str]:
        return sorted(_keys_of(self.after) - _keys_of(self.before))

    @property
    def removed(self) -> list[str]:
        return sorted(_keys_of(self.before) - _keys_of(self.after))


def _keys_of(card: Card | None) -> set[str]:
    return set(card.norm_keys) if card else set()


def put_card(table: str, write: CardWrite, *, refusal: Refusal = changed_or_gone) -> Part:
    """A new card, or a new version of the one that was read; `refusal` is for another version than that."""
    item = card_items.item_of_card(write.card)
    if write.before is None:
        return put(table, item, condition=no_row_yet, refusal=refused_as(id_taken))
    expected = {":expected": number(write.before.generation)}
    return put(table, item, condition=is_unchanged, values=expected, refusal=refusal)


def delete_card(table: str, card: Card) -> Part:
    key = key_of(CARDS + card.collection_id, card.id)
    expected = {":expected": number(card.generation)}
    return delete(table, key, condition=is_unchanged, values=expected, refusal=changed_or_gone)


def key_parts(table: str, write: CardWrite, holders: Mapping[str, tuple[str, ...]]) -> list[Part]:
    """`holders` tells who has the removed keys, as read just now. A key row goes with its last card; should another
    card have come or gone since, nothing is written and it is read again (`Moved`).
    """
    card = write.card
    return [
        *(_key_added(table, card, key) for key in write.added),
        *(_key_removed(table, card, key, is_last=holders.get(key) == (card.id,)) for key in write.removed),
    ]


def _key_added(table: str, card: Card, key: str) -> Part:
    return update(
        table,
        key_of(KEYS + card.collection_id, key),
        change=_has_this_card,
        condition=_lets_another_in,
        values={":card": {"SS": [card.id]}, ":most": number(MAX_CARDS_PER_KEY)},
        refusal=refused_as(lambda: _key_full(key)),
    )


def _key_removed(table: str, card: Card, key: str, *, is_last: bool) -> Part:
    row = key_of(KEYS + card.collection_id, key)
    this_card: NewItem = {":card": {"SS": [card.id]}}
    if is_last:
        return delete(table, row, condition=_has_no_other, values=this_card, refusal=refused_as(moved))
    values = {**this_card, ":id": text(card.id), ":one": number(1)}
    return update(
        table, row, change=_loses_this_card, condition=_keeps_another, values=values, refusal=refused_as(moved)
    )


def counted(table: str, write: CardWrite) -> Part:
    """The collection moves on, and has room for the card."""
    values = {":active": text(CollectionStatus.ACTIVE)}
    return _counted(table, write, moves=1, condition=is_active, values=values, refusal=_gone_or_full)


def counted_in_import(table: str, write: CardWrite, lease: ImportLease, *, now: float) -> Part:
    """The collection moved on when the import began; the lease must still hold."""
    values = {":active": text(CollectionStatus.ACTIVE), ":token": text(lease.token), ":now": number(now)}

    def refusal(found: Item | None) -> GatewayError:
        return _gone_or_full(found) if is_gone(found) or _is_held(found, lease, now=now) else import_ended()

    condition = f"{is_active} AND {_holds_the_lease}"
    return _counted(table, write, moves=0, condition=condition, values=values, refusal=refusal)


def _counted(table: str, write: CardWrite, *, moves: int, condition: str, values: NewItem, refusal: Refusal) -> Part:
    cards, keys, key_bytes = _difference(write)
    counts = {
        ":moves": number(moves),
        ":cards": number(cards),
        ":keys": number(keys),
        ":bytes": number(key_bytes),
        ":cards_left": number(MAX_CARDS_PER_COLLECTION - max(cards, 0)),
        ":keys_left": number(MAX_KEYS_PER_COLLECTION - max(keys, 0)),
        ":bytes_left": number(MAX_KEY_BYTES_PER_COLLECTION - max(key_bytes, 0)),
    }
    return update(
        table,
        key_of(COLLECTIONS, write.card.collection_id),
        change=_move_on_and_count,
        condition=f"{condition} AND {_has_room}",
        values={**values, **counts},
        refusal=refusal,
    )


def _difference(write: CardWrite) -> tuple[int, int, int]:
    """How many cards, keys and bytes of keys there are more afterwards."""
    cards = (write.after is not None) - (write.before is not None)
    keys = len(_keys_of(write.after)) - len(_keys_of(write.before))
    bytes_after, bytes_before = (one.key_bytes if one else 0 for one in (write.after, write.before))
    return cards, keys, bytes_after - bytes_before


def is_gone(collection: Item | None) -> bool:
    return collection is None or collection.get("status") != {"S": CollectionStatus.ACTIVE.value}


def _is_held(collection: Item | None, lease: ImportLease, *, now: float) -> bool:
    if collection is None or collection.get("import_token") != {"S": lease.token}:
        return False
    return number_of(collection, "importing_until") > now


def _gone_or_full(found: Item | None) -> GatewayError:
    if is_gone(found):
        return NotFound("There is no such thing.")
    detail = (
        f"A collection holds at most {MAX_CARDS_PER_COLLECTION} cards, {MAX_KEYS_PER_COLLECTION} keys and "
        f"{MAX_KEY_BYTES_PER_COLLECTION} bytes of keys. Spread the cards over several collections."
    )
    return Conflict(detail, code="collection_full")


def import_ended() -> Conflict:
    return Conflict("The import took too long, or another one has begun. Send the rows again.", code="import_ended")


def _key_full(key: str) -> Conflict:
    detail = f"{MAX_CARDS_PER_KEY} cards have this key already. Join some of them, or choose a narrower key."
    return Conflict(detail, code="key_full", facts={"normKey": key})
