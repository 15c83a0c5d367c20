"""Which key of a pool is in use and which ones rest: one row a pool, one attribute a key.

The attribute of a key is `r_` and its fingerprint, a map of `until` and `reason`. A rest that has ended stays until
there are many: whoever reads compares with the clock.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

from shared.adapters.attributes import Item, NewItem, number, number_of, optional, text, text_of
from shared.adapters.failures import store_unavailable
from shared.adapters.keys import key_of
from shared.adapters.row_updates import Updated, update_row
from shared.adapters.rows import row
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.domain.key_pools import PoolState, Rest, RestReason
from shared.domain.pools import Pool
from shared.errors import Unavailable
from shared.ports.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

POOL: Final = "POOL#"
_KEYS: Final = "KEYS"
REST: Final = "r_"
_MOST_RESTS = 64
_MOST_PRUNED = 32
_KEPT_AFTER_ITS_END_S = 86_400.0  # another instance's clock may be behind
_is_in_use = "#active = :active"


class DynamoPoolLedger:
    """Implements `ports.pool_ledger.PoolLedger`."""

    def __init__(self, client: DynamoDBClient, *, table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    async def state(self, pool: Pool) -> PoolState:
        return await in_thread(self._state, pool)

    async def rest(self, pool: Pool, fingerprints: Sequence[str], rest: Rest, *, active: str | None) -> PoolState:
        return await in_thread(self._rest, pool, list(dict.fromkeys(fingerprints)), rest, active)

    async def wake(self, pool: Pool, fingerprints: Sequence[str]) -> PoolState:
        return await in_thread(self._wake, pool, list(dict.fromkeys(fingerprints)))

    def _state(self, pool: Pool) -> PoolState:
        return _state_of(row(self._client, self._table, POOL + pool, _KEYS) or {})

    def _rest(self, pool: Pool, fingerprints: list[str], rest: Rest, active: str | None) -> PoolState:
        """With every attempt that fails some rest was found that ends later already, and a rest never ends earlier."""
        moving, in_use = fingerprints, active
        for _ in fingerprints:
            done = self._write(pool, moving, rest, in_use)
            state = _state_of(done.row)
            if done.is_done:
                self._prune(pool, state)
                return state
            moving = [each for each in moving if _moves(state, each, rest)]
            if not moving:
                return state
            in_use = None if active and state.is_resting(active, now=self._clock.now()) else active
        return self._state(pool)

    def _write(self, pool: Pool, fingerprints: list[str], rest: Rest, active: str | None) -> Updated:
        names = _names_of(fingerprints)
        changes = [_rests(alias) for alias in names]
        values: NewItem = {":rest": item_of_rest(rest), ":until": number(rest.until)}
        if active is not None:
            changes.append(_is_in_use)
            values[":active"] = text(active)
        return update_row(
            self._client,
            self._table,
            place_of_keys(pool),
            f"SET {', '.join(changes)}",
            condition=" AND ".join(_ends_earlier(alias) for alias in names),
            values=values,
            names=names,
        )

    def _wake(self, pool: Pool, fingerprints: list[str]) -> PoolState:
        if not fingerprints:
            return self._state(pool)
        names = _names_of(fingerprints)
        change = f"REMOVE {', '.join(names)}"
        return _state_of(update_row(self._client, self._table, place_of_keys(pool), change, names=names).row)

    def _prune(self, pool: Pool, state: PoolState) -> None:
        """Rests of keys that are long gone. What cannot be written now is left for another time."""
        long_ago = self._clock.now() - _KEPT_AFTER_ITS_END_S
        ended = [each for each, rest in state.rests.items() if rest.until <= long_ago][:_MOST_PRUNED]
        if len(state.rests) <= _MOST_RESTS or not ended:
            return
        names = _names_of(ended)
        with contextlib.suppress(Unavailable):
            update_row(
                self._client,
                self._table,
                place_of_keys(pool),
                f"REMOVE {', '.join(names)}",
                condition=" AND ".join(_has_ended(alias) for alias in names),
                values={":long_ago": number(long_ago)},
                names=names,
            )


def place_of_keys(pool: Pool) -> NewItem:
    return key_of(POOL + pool, _KEYS)


def _rests(alias: str) -> str:
    return f"{alias} = :rest"


def _ends_earlier(alias: str) -> str:
    return f"(attribute_not_exists({alias}) OR {alias}.#until < :until)"


def _has_ended(alias: str) -> str:
    return f"{alias}.#until <= :long_ago"


def _names_of(fingerprints: Sequence[str]) -> dict[str, str]:
    """Short stand-ins: written out, the names of a full pool would outgrow what an expression may hold."""
    return {f"#r{number_}": REST + fingerprint for number_, fingerprint in enumerate(fingerprints)}


def _moves(state: PoolState, fingerprint: str, rest: Rest) -> bool:
    known = state.rests.get(fingerprint)
    return known is None or known.until < rest.until


def item_of_rest(rest: Rest) -> AttributeValueTypeDef:
    return {"M": {"until": number(rest.until), "reason": text(rest.reason)}}


def _state_of(item: Item) -> PoolState:
    """A row that cannot be read must not pass for one in which no key rests."""
    try:
        rests = {name.removeprefix(REST): _rest_of(item, name) for name in item if name.startswith(REST)}
        return PoolState(active=optional(item, "active", text_of), rests=rests)
    except (KeyError, TypeError, ValueError):
        raise store_unavailable() from None


def _rest_of(item: Item, name: str) -> Rest:
    value = item[name]["M"]
    return Rest(until=number_of(value, "until"), reason=cast("RestReason", text_of(value, "reason")))
