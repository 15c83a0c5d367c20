"""What every admin write carries along: its line of the audit and its idempotency record."""

from __future__ import annotations

from shared.adapters import audit_items, idempotency_items
from shared.adapters.attributes import Item, number
from shared.adapters.conditions import no_row_yet
from shared.adapters.transactions import Part, busy, put, refused_as
from shared.domain.changes import Change
from shared.errors import Conflict, NotFound, PreconditionFailed

_row_has_ended = "#valid_until <= :now"
unused_or_ended = f"{no_row_yet} OR {_row_has_ended}"


def once(change: Change, *, table: str, now: float) -> list[Part]:
    """The idempotency record. Goes before everything else of a transaction: a repeat is a repeat above all."""
    if change.idempotency is None:
        return []
    item = idempotency_items.item_of(change.idempotency)
    return [put(table, item, condition=unused_or_ended, values={":now": number(now)}, refusal=refused_as(_key_used))]


def audited(change: Change, *, table: str) -> Part:
    """A line of the audit is written once and never again."""
    return put(table, audit_items.item_of(change.audit), condition=no_row_yet, refusal=refused_as(busy))


def changed_or_gone(found: object) -> PreconditionFailed | NotFound:
    """Why a resource does not have the expected generation."""
    return NotFound("There is no such thing.") if found is None else PreconditionFailed("Read it again, then decide.")


def existing_item(stored: Item | None) -> Item:
    """Raises `NotFound` where nothing is stored."""
    if stored is None:
        raise NotFound("There is no such thing.")
    return stored


def id_taken() -> Conflict:
    return Conflict("This id is taken.", code="id_taken")


def _key_used() -> Conflict:
    return Conflict("A request with this idempotency key was carried out.", code="idempotency_key_used")
