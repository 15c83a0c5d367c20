"""Sets how many operations a pool may make, and settles what an operator found out about unknown ones."""

from __future__ import annotations

from dataclasses import replace

from shared.domain.allowances import Allowance, Review
from shared.domain.auditing import Facts, facts_of_allowance, new_entry
from shared.domain.changes import Change
from shared.domain.credentials import Principal
from shared.domain.pools import Pool
from shared.domain.preconditions import check_generation
from shared.ports.allowances import AllowanceDesk
from shared.ports.clock import Clock

_NO_REVIEW = Review()


class ChangeAllowance:
    def __init__(self, *, desk: AllowanceDesk, clock: Clock) -> None:
        self._desk = desk
        self._clock = clock

    async def __call__(
        self, pool: Pool, *, limit: int, review: Review, expected_generation: int, by: Principal
    ) -> Allowance:
        """The allowance as it is now; nothing is written where nothing differs.

        Raises `PreconditionFailed`, `Conflict` (`nothing_unknown`, `busy`), `Unavailable`.
        """
        before = await self._desk.read(pool)
        check_generation(before.generation, expected_generation)
        if limit == before.limit and review == _NO_REVIEW:
            return before
        return await self._desk.change(
            pool,
            limit=limit,
            review=review,
            expected_generation=expected_generation,
            change=self._change(before, limit, review, by=by),
        )

    def _change(self, before: Allowance, limit: int, review: Review, *, by: Principal) -> Change:
        now = self._clock.now()
        found = facts_of_allowance(before, now=now)
        entry = new_entry(
            at=now,
            actor=by.credential_id,
            action="allowance.changed",
            resource=f"allowance/{before.pool}",
            before=found,
            after={**facts_of_allowance(replace(before, limit=limit), now=now), **_reviewed(before, review, now=now)},
            generations=(before.generation, before.generation + 1),
        )
        return Change(audit=entry)


def _reviewed(before: Allowance, review: Review, *, now: float) -> Facts:
    if review == _NO_REVIEW:
        return {}
    settled = review.happened + review.did_not_happen
    return {
        "unknown": before.unknown_at(now) - settled,
        "happened": review.happened,
        "didNotHappen": review.did_not_happen,
    }
