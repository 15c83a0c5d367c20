"""A pool's allowance as a row.

`limit`, `generation`   as an operator set them; absent until then
`total`                 all units that count: those in slots, open ones and unknown ones
`s_<slot>`              confirmed units by the half hour of their confirmation
`o_<reservation id>`    the end of an open reservation's lease
`unknown`               units past their lease that were gathered into one number

Every write keeps `total` equal to the sum of the others, so that one comparison decides about the next unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from shared.adapters.attributes import Item, NewItem, number, number_of, optional, whole_of
from shared.adapters.failures import store_unavailable
from shared.adapters.keys import key_of
from shared.adapters.pool_ledger import POOL
from shared.adapters.row_updates import update_row
from shared.adapters.services import DynamoDBClient
from shared.domain.allowances import DEFAULT_LIMIT, Allowance, has_left
from shared.domain.pools import Pool

SORT: Final = "ALLOWANCE"
_SLOT: Final = "s_"
_OPEN: Final = "o_"
_MOST_AT_ONCE = 50  # what one expression may hold


def place_of(pool: Pool) -> NewItem:
    return key_of(POOL + pool, SORT)


def slot_name(slot: int) -> str:
    return f"{_SLOT}{slot}"


def open_name(reservation_id: str) -> str:
    return f"{_OPEN}{reservation_id}"


def allowance_of(pool: Pool, item: Item) -> Allowance:
    """A row that cannot be read must not pass for one without any units."""
    try:
        limit = optional(item, "limit", whole_of)
        return Allowance(
            pool=pool,
            limit=DEFAULT_LIMIT[pool] if limit is None else limit,
            generation=optional(item, "generation", whole_of) or 0,
            slots={int(name.removeprefix(_SLOT)): whole_of(item, name) for name in item if name.startswith(_SLOT)},
            open={name.removeprefix(_OPEN): number_of(item, name) for name in item if name.startswith(_OPEN)},
            unknown=optional(item, "unknown", whole_of) or 0,
        )
    except (KeyError, TypeError, ValueError):
        raise store_unavailable() from None


def roll_off(client: DynamoDBClient, table: str, allowance: Allowance, *, now: float) -> bool:
    """Takes slots that have left out of the count. Whether there were any: others may be doing the same."""
    left = sorted(slot for slot in allowance.slots if has_left(slot, now=now))[:_MOST_AT_ONCE]
    if not left:
        return False
    names = {f"#s{slot}": slot_name(slot) for slot in left}
    values = {f":s{slot}": number(allowance.slots[slot]) for slot in left}
    update_row(
        client,
        table,
        place_of(allowance.pool),
        _leaves(names) + " ADD #total :fewer",
        condition=" AND ".join(_is_as_seen(slot) for slot in left),
        values=values | {":fewer": number(-sum(allowance.slots[slot] for slot in left))},
        names=names,
    )
    return True


def gather(client: DynamoDBClient, table: str, allowance: Allowance, *, now: float) -> bool:
    """Makes one number of reservations past their lease. Whether there were any."""
    expired = sorted(each for each, lease_end in allowance.open.items() if lease_end <= now)[:_MOST_AT_ONCE]
    if not expired:
        return False
    names = {f"#o{number_}": open_name(each) for number_, each in enumerate(expired)}
    update_row(
        client,
        table,
        place_of(allowance.pool),
        _leaves(names) + " ADD #unknown :more",
        condition=" AND ".join(_is_still_open(alias) for alias in names),
        values={":more": number(len(expired))},
        names=names,
    )
    return True


def _leaves(aliases: Sequence[str] | dict[str, str]) -> str:
    return f"REMOVE {', '.join(aliases)}"


def _is_as_seen(slot: int) -> str:
    return f"#s{slot} = :s{slot}"


def _is_still_open(alias: str) -> str:
    return f"attribute_exists({alias})"
