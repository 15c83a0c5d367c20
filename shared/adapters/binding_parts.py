"""The rows that hold providers and their instances together. What is bound is written only while the instance is as it
was read, and the instance lists what is bound to it.
"""

from __future__ import annotations

from typing import Final

from shared.adapters.attributes import Item, NewItem, number, text, text_of
from shared.adapters.conditions import is_unchanged, no_row_yet
from shared.adapters.instance_items import INSTANCES
from shared.adapters.keys import SORT_KEY, key_of
from shared.adapters.transactions import Part, Refusal, busy, check, delete, put, refused_as, update
from shared.domain.bindings import Binding, has_known_config
from shared.domain.identifiers import exposure_of_instance
from shared.domain.instances import MAX_BINDINGS_PER_INSTANCE
from shared.domain.registrations import Provider
from shared.errors import Conflict

BINDING_TARGETS: Final = "BINDING_TARGET"

_lists_it = "ADD #binding_ids :ids"
_lists_it_no_more = "DELETE #binding_ids :ids"
_lists_none = "attribute_not_exists(#binding_ids)"
_has_room = "size(#binding_ids) < :most"
_is_there = "attribute_exists(#pk)"
_is_its_own = "#provider_id = :id"


def bound(table: str, provider: Provider) -> list[Part]:
    """What a new provider needs beside itself; nothing for one that is bound to no instance."""
    config = provider.source.config
    if not isinstance(config, Binding):
        return []
    target = {**_target(config.instance_id, config.remote_id), "provider_id": text(provider.id)}
    values: NewItem = {
        ":expected": number(_generation_read(provider)),
        ":ids": {"SS": [provider.id]},
        ":most": number(MAX_BINDINGS_PER_INSTANCE),
    }
    return [
        put(table, target, condition=no_row_yet, refusal=refused_as(_already_bound)),
        update(
            table,
            key_of(INSTANCES, config.instance_id),
            change=_lists_it,
            condition=f"{is_unchanged} AND ({_lists_none} OR {_has_room})",
            values=values,
            refusal=lambda found: _changed_or_full(found, values[":expected"]),
        ),
    ]


def still_bound(table: str, stored: Item | None, provider: Provider) -> list[Part]:
    """What a change needs: the instance as it was read. Raises `ValueError` where it would bind to something else."""
    config = provider.source.config
    if not isinstance(config, Binding):
        return []
    if stored is not None and target_in(stored) != (config.instance_id, config.remote_id):
        raise ValueError("a provider keeps what it is bound to")
    place, expected = key_of(INSTANCES, config.instance_id), number(_generation_read(provider))
    return [
        check(
            table,
            place,
            condition=is_unchanged,
            values={":expected": expected},
            refusal=refused_as(_config_changed),
        )
    ]


def kept_config(stored: Item, provider: Provider) -> NewItem:
    """A config of a version that is not known here is not written over with what stands in for it."""
    config = provider.source.config
    if not isinstance(config, Binding) or has_known_config(config):
        return {}
    return {"binding": stored["binding"]}


def unbound(table: str, stored: Item) -> list[Part]:
    """What goes with a provider, as it is stored."""
    if (target := target_in(stored)) is None:
        return []
    provider_id = text_of(stored, SORT_KEY)
    return [
        _target_freed(table, *target, provider_id=provider_id),
        unlisted(table, target[0], provider_id=provider_id, refusal=refused_as(busy)),
    ]


def unlisted(table: str, instance_id: str, *, provider_id: str, refusal: Refusal) -> Part:
    ids: NewItem = {":ids": {"SS": [provider_id]}}
    place = key_of(INSTANCES, instance_id)
    return update(table, place, change=_lists_it_no_more, condition=_is_there, values=ids, refusal=refusal)


def _target_freed(table: str, instance_id: str, remote_id: str, *, provider_id: str) -> Part:
    key, values = _target(instance_id, remote_id), {":id": text(provider_id)}
    return delete(table, key, condition=_is_its_own, values=values, refusal=refused_as(busy))


def target_in(stored: Item) -> tuple[str, str] | None:
    """Instance and remote id, or None for a provider that is bound to no instance."""
    if "binding" not in stored:
        return None
    binding: Item = stored["binding"]["M"]
    return text_of(binding, "instance_id"), text_of(binding, "remote_id")


def _target(instance_id: str, remote_id: str) -> NewItem:
    return key_of(BINDING_TARGETS, f"{instance_id}#{remote_id}")


def _generation_read(provider: Provider) -> int:
    """Of the instance that the provider came with; it is of the provider's own exposure profile."""
    link, config = provider.source.link, provider.source.config
    if link is None or not isinstance(config, Binding) or link.owner_id != config.instance_id:
        raise ValueError("a binding comes with its instance's link")
    if exposure_of_instance(config.instance_id) is not provider.exposure_profile:
        raise ValueError("the instance is of another exposure profile")
    return link.generation


def _changed_or_full(found: Item | None, expected: object) -> Conflict:
    if found is None or found.get("generation") != expected:
        return _config_changed()
    most = MAX_BINDINGS_PER_INSTANCE
    return Conflict(f"There are {most} bindings of this instance already.", code="binding_limit_reached")


def _config_changed() -> Conflict:
    return Conflict(
        "The instance has changed since it was read. Test again with what it is now.", code="config_changed"
    )


def _already_bound() -> Conflict:
    return Conflict("This knowledge base of this instance is bound already.", code="already_bound")
