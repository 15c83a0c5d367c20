"""What belongs to a provider or an instance, by its id alone: whatever its own row holds, readable or not."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from shared.adapters.attributes import Item, NewItem, flag, number, text, text_of, whole_of
from shared.adapters.batches import rows_of
from shared.adapters.binding_parts import BINDING_TARGETS, unlisted
from shared.adapters.instance_items import BINDING_IDS, INSTANCES
from shared.adapters.keys import SORT_KEY, key_of
from shared.adapters.name_parts import INSTANCE_NAMES, PROVIDER_NAMES, Names
from shared.adapters.rows import rows
from shared.adapters.services import DynamoDBClient
from shared.adapters.source_items import PROVIDERS
from shared.adapters.transactions import Part, delete, moved, refused_as, update
from shared.domain.registrations import ProviderStatus

_TARGETS: Final = Names(partition=BINDING_TARGETS, attribute="provider_id", is_its_own="#provider_id = :id")
_SET: Final = flag(True)  # noqa: FBT003  # the value, not a mode
_has_this_generation: Final = "#generation = :found"
_has_no_generation: Final = "attribute_exists(#pk) AND attribute_not_exists(#generation)"
_switch_off: Final = "SET #status = :status, #needs_test = :needs_test, #updated_at = :at"
_switch_off_and_count: Final = f"{_switch_off}, #generation = :next"


@dataclass(frozen=True, slots=True)
class Removal:
    """What goes with some providers, and how many of them were there. Its parts raise `Moved` for what has changed."""

    parts: tuple[Part, ...]
    providers: int


def as_found(stored: Item) -> tuple[str, NewItem]:
    """Condition and values that hold while nobody has written this row since; it need not be readable."""
    if "generation" not in stored:
        return _has_no_generation, {}
    return _has_this_generation, {":found": stored["generation"]}


def switched_off(client: DynamoDBClient, table: str, ids: Collection[str], *, now: float) -> tuple[Part, ...]:
    """Off until a test passes. Blocking. The parts raise `Moved` like a removal's."""
    return tuple(_switched_off(table, stored, now=now) for stored in _providers(client, table, ids))


def removed(client: DynamoDBClient, table: str, ids: Collection[str]) -> Removal:
    """Rows, names, and what they are bound to; names and targets are looked for, as a row may say wrong things of
    them. That an instance lists them is left to the caller. Blocking.
    """
    if not ids:
        return Removal((), 0)
    stored = _providers(client, table, ids)
    gone = (_gone(table, each) for each in stored)
    return Removal((*gone, *_freed(client, table, (PROVIDER_NAMES, _TARGETS), ids)), len(stored))


def instance_names_freed(client: DynamoDBClient, table: str, instance_id: str) -> tuple[Part, ...]:
    """Blocking."""
    return tuple(_freed(client, table, (INSTANCE_NAMES,), (instance_id,)))


def unlisted_everywhere(client: DynamoDBClient, table: str, provider_id: str) -> tuple[Part, ...]:
    """Off the list of each instance that has it on one. Blocking."""
    listing = (
        each for each in rows(client, table, INSTANCES) if provider_id in each.get(BINDING_IDS, {}).get("SS", ())
    )
    return tuple(
        unlisted(table, text_of(each, SORT_KEY), provider_id=provider_id, refusal=refused_as(moved)) for each in listing
    )


def _providers(client: DynamoDBClient, table: str, ids: Collection[str]) -> list[Item]:
    places = [(table, PROVIDERS, each) for each in sorted(ids)]
    return list(rows_of(client, places).values()) if places else []


def _gone(table: str, stored: Item) -> Part:
    condition, values = as_found(stored)
    place = key_of(PROVIDERS, text_of(stored, SORT_KEY))
    return delete(table, place, condition=condition, values=values, refusal=refused_as(moved))


def _freed(client: DynamoDBClient, table: str, kinds: Iterable[Names], owners: Collection[str]) -> Iterable[Part]:
    for names in kinds:
        for item in rows(client, table, names.partition):
            owner = item.get(names.attribute, {}).get("S")
            if owner is not None and owner in owners:
                place, values = key_of(names.partition, text_of(item, SORT_KEY)), {":id": text(owner)}
                yield delete(table, place, condition=names.is_its_own, values=values, refusal=refused_as(moved))


def _switched_off(table: str, stored: Item, *, now: float) -> Part:
    """A generation that is none stays as it is: there is no next one."""
    condition, found = as_found(stored)
    values = {
        **found,
        ":status": text(ProviderStatus.DISABLED),
        ":needs_test": _SET,
        ":at": number(now),
        **_next_generation(stored),
    }
    change = _switch_off_and_count if ":next" in values else _switch_off
    place = key_of(PROVIDERS, text_of(stored, SORT_KEY))
    return update(table, place, change=change, condition=condition, values=values, refusal=refused_as(moved))


def _next_generation(stored: Item) -> NewItem:
    try:
        return {":next": number(whole_of(stored, "generation") + 1)}
    except (KeyError, TypeError, ValueError):
        return {}
