"""The rows of an instance, as parts of a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from shared.adapters.attributes import Item, NewItem, flag, number, text
from shared.adapters.binding_parts import target_freed
from shared.adapters.company import changed_or_gone, id_taken
from shared.adapters.conditions import is_unchanged, no_row_yet
from shared.adapters.generations import GENERATION
from shared.adapters.instance_items import BINDING_IDS, INSTANCES
from shared.adapters.keys import ONLY, key_of
from shared.adapters.name_parts import PROVIDER_NAMES
from shared.adapters.source_items import PROVIDERS
from shared.adapters.transactions import Part, busy, delete, put, refused_as, update
from shared.domain.bindings import Binding
from shared.domain.instances import MAX_INSTANCES_PER_EXPOSURE, Instance
from shared.domain.registrations import Provider
from shared.errors import Conflict, GatewayError

_binds_none: Final = "attribute_not_exists(#binding_ids)"
_binds_these: Final = "#binding_ids = :ids"
_none_counted_yet: Final = "attribute_not_exists(#instance_count)"
_has_room: Final = "#instance_count < :most"
_move_on: Final = "ADD #generation :one"
_move_on_and_count: Final = "ADD #generation :one, #instance_count :instances"
_move_on_and_count_both: Final = "ADD #generation :one, #instance_count :instances, #provider_count :providers"
_switch_off: Final = "SET #status = :status, #needs_test = :needs_test, #updated_at = :at, #generation = :next"


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


def deleted(table: str, instance: Instance, *, expected_generation: int, bindings: tuple[Provider, ...]) -> list[Part]:
    """With exactly these bindings and all that each one has."""
    condition, values = _as_read(expected_generation, [provider.id for provider in bindings])

    def refusal(found: Item | None) -> GatewayError:
        return _in_use(found) if found and _has(expected_generation, found) else changed_or_gone(found)

    place = key_of(INSTANCES, instance.id)
    return [
        delete(table, place, condition=condition, values=values, refusal=refusal),
        *(part for provider in bindings for part in _removed(table, provider)),
        _one_less(table, bindings=len(bindings)),
    ]


def switched_off(table: str, provider: Provider) -> Part:
    values = {
        ":status": text(provider.status),
        ":needs_test": flag(provider.needs_test),
        ":at": number(provider.updated_at),
        ":next": number(provider.generation),
        ":expected": number(provider.generation - 1),
    }
    place = key_of(PROVIDERS, provider.id)
    return update(table, place, change=_switch_off, condition=is_unchanged, values=values, refusal=refused_as(busy))


def _as_read(generation: int, binding_ids: Sequence[str]) -> tuple[str, NewItem]:
    """Condition and values."""
    values: NewItem = {":expected": number(generation)}
    if not binding_ids:
        return f"{is_unchanged} AND {_binds_none}", values
    return f"{is_unchanged} AND {_binds_these}", values | {":ids": {"SS": sorted(binding_ids)}}


def _has(generation: int, found: Item | None) -> bool:
    return found is not None and found.get("generation") == number(generation)


def _removed(table: str, provider: Provider) -> list[Part]:
    config = provider.source.config
    if not isinstance(config, Binding):
        raise ValueError("a binding is bound")
    place, expected = key_of(PROVIDERS, provider.id), {":expected": number(provider.generation)}
    return [
        delete(table, place, condition=is_unchanged, values=expected, refusal=refused_as(busy)),
        PROVIDER_NAMES.given_up(table, provider.source.name, by=provider.id),
        target_freed(table, config.instance_id, config.remote_id, provider_id=provider.id),
    ]


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
    bound = sorted(found[BINDING_IDS]["SS"]) if BINDING_IDS in found else []
    return Conflict(
        "Providers are bound to this instance. Remove them first, or name exactly them with this deletion.",
        code="instance_in_use",
        facts={"bindings": bound},
    )


def _limit_reached() -> Conflict:
    most = MAX_INSTANCES_PER_EXPOSURE
    return Conflict(f"There are {most} of this exposure profile already.", code="instance_limit_reached")
