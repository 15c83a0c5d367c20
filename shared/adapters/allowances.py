"""Reserving units of a pool's allowance and settling them, each with one write to the pool's one row.

A write that the client library sends a second time, because the first answer was lost, changes nothing: each names its
reservation, and what is open or settled already stays so.
"""

from __future__ import annotations

import contextlib
import secrets

from shared.adapters.allowance_rows import allowance_of, gather, open_name, place_of, roll_off, slot_name
from shared.adapters.attributes import Item, number
from shared.adapters.row_updates import Updated, update_row
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.domain.allowances import DEFAULT_LIMIT, LEASE_S, Allowance, Reservation, slot_of
from shared.domain.outcomes import OutcomeCode
from shared.domain.pools import Pool
from shared.errors import Refused, Unavailable
from shared.observability import UNITS_ASK_FOR_REVIEW, logger_for
from shared.ports.clock import Clock

_logger = logger_for("allowances")
_ATTEMPTS = 4
_MOST_SLOTS = 96
_MOST_OPEN = 64
_is_new = "attribute_not_exists(#reservation)"
_is_open = "attribute_exists(#reservation)"
_is_below_its_limit = "#total < #limit"
_is_below_the_default = "attribute_not_exists(#limit) AND (attribute_not_exists(#total) OR #total < :default)"
_has_a_unit = f"{_is_new} AND ({_is_below_its_limit} OR ({_is_below_the_default}))"
_take = "SET #reservation = :lease_end ADD #total :one"
_count_as_made = "REMOVE #reservation ADD #slot :one"
_give_back = "REMOVE #reservation ADD #total :minus_one"


class DynamoAllowances:
    """Implements `ports.allowances.Allowances`."""

    def __init__(self, client: DynamoDBClient, *, table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    async def reserve(self, pool: Pool) -> Reservation:
        return await in_thread(self._reserve, pool)

    async def confirm(self, reservation: Reservation) -> None:
        slot = {"#slot": slot_name(slot_of(self._clock.now()))}
        await in_thread(self._settle, reservation, _count_as_made, {":one": number(1)}, slot)

    async def release(self, reservation: Reservation) -> None:
        await in_thread(self._settle, reservation, _give_back, {":minus_one": number(-1)}, {})

    def _reserve(self, pool: Pool) -> Reservation:
        reservation = Reservation(pool=pool, id=secrets.token_hex(8))
        for _ in range(_ATTEMPTS):
            taken = self._take(reservation)
            allowance = allowance_of(pool, taken.row)
            if reservation.id in allowance.open:  # also where the first sending was done and its answer was lost
                self._tidy(allowance)
                _say_if_many_are_unknown(allowance, now=self._clock.now())
                return reservation
            now = self._clock.now()
            if len(allowance.open) > _MOST_OPEN:
                gather(self._client, self._table, allowance, now=now)
            if not roll_off(self._client, self._table, allowance, now=now):
                break
        _say_if_many_are_unknown(allowance, now=self._clock.now())
        raise Refused(OutcomeCode.ALLOWANCE_EXHAUSTED, retry_at=allowance.free_again_at(self._clock.now()))

    def _take(self, reservation: Reservation) -> Updated:
        values = {
            ":lease_end": number(self._clock.now() + LEASE_S),
            ":one": number(1),
            ":default": number(DEFAULT_LIMIT[reservation.pool]),
        }
        return self._update(reservation, _take, values, condition=_has_a_unit)

    def _settle(self, reservation: Reservation, change: str, values: Item, names: dict[str, str]) -> None:
        """Where it is not open, it was settled before, or has become one of the unknown ones."""
        self._update(reservation, change, values, condition=_is_open, names=names)

    def _update(
        self,
        reservation: Reservation,
        change: str,
        values: Item,
        *,
        condition: str,
        names: dict[str, str] | None = None,
    ) -> Updated:
        return update_row(
            self._client,
            self._table,
            place_of(reservation.pool),
            change,
            condition=condition,
            values=values,
            names={"#reservation": open_name(reservation.id), **(names or {})},
        )

    def _tidy(self, allowance: Allowance) -> None:
        """Keeps the row small. The unit is taken whether this can be written now or not."""
        now = self._clock.now()
        with contextlib.suppress(Unavailable):
            if len(allowance.slots) > _MOST_SLOTS:
                roll_off(self._client, self._table, allowance, now=now)
            if allowance.unknown_at(now) - allowance.unknown > _MOST_OPEN:
                gather(self._client, self._table, allowance, now=now)


def _say_if_many_are_unknown(allowance: Allowance, *, now: float) -> None:
    """The stack raises an alarm on it."""
    if allowance.asks_for_review_at(now):
        unknown = allowance.unknown_at(now)
        _logger.warning(UNITS_ASK_FOR_REVIEW, pool=allowance.pool, unknown=unknown, limit=allowance.limit)
