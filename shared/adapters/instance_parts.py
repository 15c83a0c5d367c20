"""The rows of an instance, as parts of a transaction."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from shared.adapters.attributes import Item, NewItem, number, text_of
from shared.adapters.company import changed_or_gone, id_taken
from shared.adapters.conditions import is_unchanged, no_row_yet
from shared.adapters.generations import GENERATION
from shared.adapters.instance_items import BINDING_IDS, INSTANCES
from shared.adapters.keys import ONLY, SORT_KEY, key_of
from shared.adapters.owned_rows import Removal, as_found
from shared.adapters.transactions import Part, busy, delete, moved, put, refused_as, update
from shared.domain.instances import MAX_INSTANCES_PER_EXPOSURE
from shared.errors import Conflict, GatewayError

_binds_none: Final = "attribute_not_exists(#binding_ids)"
_binds_these: Final = "#binding_ids = :ids"
_none_counted_yet: Final = "attribute_not_exists(#instance_count)"
_has_room: Final = "#instance_count < :most"
_move_on: Final = "ADD #generation :one"
_move_on_and_count: Final = "ADD #generation :one, #instance_count :instances"
_move_on_and_count_both: Final = "ADD #generation :one, #instance_count :instances, #provider_count :providers"


def created(table: str, item: NewItem) -> list[Part]:
    return [put(table, item, condition=no_row_yet, refusal=refused_as(id_taken)), _one_more(table)]


def replaced(table: str, item: NewItem, *, expected_generation: int) -> list[Part]:
    """Only while it binds what the item says, which is what was read."""
    binding_ids = item[BINDING_IDS]["SS"] if BINDING_IDS in item else ()
    condition, values = _as_read(expected_generation, binding_ids)

    def refusal(found: Item | None) -> GatewayError:
        return busy() if _has(expected_generation, found) else changed_or_gone(found)

    return [
        put(table, item, condition=condition, values=values, refusal=refusal),
        update(table, key_of(GENERATION, ONLY), change=_move_on, values={":one": number(1)}, refusal=refused_as(busy)),
    ]


def deleted(
    table: str, instance_id: str, *, expected_generation: int, binding_ids: Collection[str], bindings: Removal
) -> list[Part]:
    """With exactly these bindings and all that each one has."""
    condition, values = _as_read(expected_generation, binding_ids)

    def refusal(found: Item | None) -> GatewayError:
        return _in_use(found) if found and _has(expected_generation, found) else changed_or_gone(found)

    place = key_of(INSTANCES, instance_id)
    gone = delete(table, place, condition=condition, values=values, refusal=refusal)
    return [gone, *bindings.parts, _one_less(table, bindings=bindings.providers)]


def deleted_as_found(table: str, stored: Item, *, binding_ids: Collection[str], bindings: Removal) -> list[Part]:
    """Like `deleted`, for a row that need not be readable. Its part raises `Moved` when it has changed since."""
    condition, values = _and_binds(as_found(stored), binding_ids)

    def refusal(found: Item | None) -> GatewayError:
        return _in_use(found) if found and found.get("generation") == stored.get("generation") else moved()

    place = key_of(INSTANCES, text_of(stored, SORT_KEY))
    gone = delete(table, place, condition=condition, values=values, refusal=refusal)
    return [gone, *bindings.parts, _one_less(table, bindings=bindings.providers)]


def _as_read(generation: int, binding_ids: Collection[str]) -> tuple[str, NewItem]:
    """Condition and values."""
    return _and_binds((is_unchanged, {":expected": number(generation)}), binding_ids)


def _and_binds(read: tuple[str, NewItem], binding_ids: Collection[str]) -> tuple[str, NewItem]:
    condition, values = read
    if not binding_ids:
        return f"{condition} AND {_binds_none}", values
    return f"{condition} AND {_binds_these}", values | {":ids": {"SS": sorted(binding_ids)}}


def _has(generation: int, found: Item | None) -> bool:
    return found is not None and found.get("generation") == number(generation)


def _one_more(table: str) -> Part:
    return update(
        table,
        key_of(GENERATION, ONLY),
        change=_move_on_and_count,
        condition=f"{_none_counted_yet} OR {_has_room}",
        values={":one": number(1), ":instances": number(1), ":most": number(MAX_INSTANCES_PER_EXPOSURE)},
        refusal=refused_as(_limit_reached),
    )


def _one_less(table: str, *, bindings: int) -> Part:
    values = {":one": number(1), ":instances": number(-1), ":providers": number(-bindings)}
    change = _move_on_and_count_both if bindings else _move_on_and_count
    if not bindings:
        del values[":providers"]
    return update(table, key_of(GENERATION, ONLY), change=change, values=values, refusal=refused_as(busy))


def _in_use(found: Item) -> Conflict:
    bound = sorted(found.get(BINDING_IDS, {}).get("SS", ()))
    return Conflict(
        "Providers are bound to this instance. Remove them first, or name exactly them with this deletion.",
        code="instance_in_use",
        facts={"bindings": bound},
    )


def _limit_reached() -> Conflict:
    most = MAX_INSTANCES_PER_EXPOSURE
    return Conflict(f"There are {most} of this exposure profile already.", code="instance_limit_reached")
