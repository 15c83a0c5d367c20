"""An operator's changes to allowances."""

from __future__ import annotations

from dataclasses import replace

from shared.adapters.allowance_rows import SORT, allowance_of, gather, place_of, slot_name
from shared.adapters.attributes import Item, NewItem, number
from shared.adapters.company import audited
from shared.adapters.conditions import is_unchanged
from shared.adapters.pool_ledger import POOL
from shared.adapters.rows import row
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.adapters.transactions import Part, Refusal, commit, update
from shared.domain.allowances import Allowance, Review, slot_of
from shared.domain.changes import Change
from shared.domain.pools import Pool
from shared.errors import Conflict, GatewayError, PreconditionFailed
from shared.ports.clock import Clock

_was_never_changed = "attribute_not_exists(#generation)"
_has_as_many_unknown = "#unknown >= :reviewed"
_set = "SET #limit = :limit, #generation = :next ADD #total :fewer"
_settle = ", #unknown :settled"


class DynamoAllowanceDesk:
    """Implements `ports.allowances.AllowanceDesk`."""

    def __init__(self, client: DynamoDBClient, *, table: str, audit_table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._audit_table = audit_table
        self._clock = clock

    async def read(self, pool: Pool) -> Allowance:
        return await in_thread(self._read, pool)

    async def change(
        self, pool: Pool, *, limit: int, review: Review, expected_generation: int, change: Change
    ) -> Allowance:
        before = await in_thread(self._gathered if _units_of(review) else self._read, pool)
        slot = slot_of(self._clock.now())
        decided = self._decided(pool, limit, review, slot=slot, expected_generation=expected_generation)
        await commit(self._client, [decided, audited(change, table=self._audit_table)])
        return _after(before, limit, review, slot=slot, generation=expected_generation + 1)

    def _read(self, pool: Pool) -> Allowance:
        return allowance_of(pool, row(self._client, self._table, POOL + pool, SORT) or {})

    def _gathered(self, pool: Pool) -> Allowance:
        """With all unknown units in one number, out of which any of them can be settled: the oldest are in it first."""
        allowance = self._read(pool)
        while gather(self._client, self._table, allowance, now=self._clock.now()):
            allowance = self._read(pool)
        return allowance

    def _decided(self, pool: Pool, limit: int, review: Review, *, slot: int, expected_generation: int) -> Part:
        change = _set
        values: NewItem = {
            ":limit": number(limit),
            ":next": number(expected_generation + 1),
            ":fewer": number(-review.did_not_happen),
        }
        conditions = [is_unchanged if expected_generation else _was_never_changed]
        if expected_generation:
            values[":expected"] = number(expected_generation)
        if units := _units_of(review):
            conditions.append(_has_as_many_unknown)
            change += _settle
            values |= {":reviewed": number(units), ":settled": number(-units)}
        if review.happened:
            change += f", #{slot_name(slot)} :happened"
            values[":happened"] = number(review.happened)
        return update(
            self._table,
            place_of(pool),
            refusal=_why(expected_generation),
            change=change,
            condition=" AND ".join(conditions),
            values=values,
        )


def _units_of(review: Review) -> int:
    return review.happened + review.did_not_happen


def _why(expected_generation: int) -> Refusal:
    def problem(found: Item | None) -> GatewayError:
        generation = int((found or {}).get("generation", {}).get("N", 0))
        if generation != expected_generation:
            return PreconditionFailed("Read it again, then decide.")
        return Conflict("Fewer units are unknown than were reviewed.", code="nothing_unknown")

    return problem


def _after(before: Allowance, limit: int, review: Review, *, slot: int, generation: int) -> Allowance:
    slots = {**before.slots, slot: before.slots.get(slot, 0) + review.happened} if review.happened else before.slots
    unknown = before.unknown - _units_of(review)
    return replace(before, limit=limit, generation=generation, slots=slots, unknown=unknown)
