"""Allowances on the wire: counts of the gateway's own operations, never money."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from shared.domain.allowances import MAX_LIMIT, Allowance, AllowanceState, Review
from shared.domain.pools import Pool
from shared.web.moments import moment_or_none
from shared.web.shown import Shown
from shared.web.wire import AdminModel

Units = Annotated[int, Field(ge=0, le=MAX_LIMIT)]


class AllowanceReview(AdminModel):
    """What was found out about unknown operations: how many were made after all, and how many were not."""

    happened: Units = 0
    did_not_happen: Units = 0


class AllowancePut(AdminModel):
    """`limit` 0 closes the pool: nothing is sent any more."""

    limit: Units
    review: AllowanceReview | None = None

    def reviewed(self) -> Review:
        review = self.review or AllowanceReview()
        return Review(happened=review.happened, did_not_happen=review.did_not_happen)


class AllowanceShown(Shown):
    """Gateway operations of the last 24 hours, rounded up to half an hour, and those whose end nobody knows."""

    pool: Pool
    state: AllowanceState = Field(description="`closed`: the limit is 0. `exhausted`: nothing is sent now.")
    limit: int
    used: int = Field(description="Confirmed, reserved and unknown ones together.")
    confirmed: int
    reserved: int = Field(description="Under way.")
    unknown: int = Field(description="They count until they are reviewed, beyond the 24 hours too.")
    unknown_share: float = Field(description="`unknown` as a part of `limit`: 0.2 and more asks for a review.")
    free_again_at: Annotated[str, Field(json_schema_extra={"format": "date-time"})] | None = Field(
        description="When time alone frees an operation; null while one is free, and where only a review or a higher "
        "limit helps."
    )
    generation: int = Field(description="Grows with every change by an operator; the ETag is this number in quotes.")

    @classmethod
    def of(cls, allowance: Allowance, *, now: float) -> AllowanceShown:
        state, unknown = _state(allowance, now=now), allowance.unknown_at(now)
        return cls(
            pool=allowance.pool,
            state=state,
            limit=allowance.limit,
            used=allowance.used_at(now),
            confirmed=allowance.confirmed_at(now),
            reserved=allowance.reserved_at(now),
            unknown=unknown,
            unknown_share=round(unknown / max(allowance.limit, 1), 4),
            free_again_at=moment_or_none(allowance.free_again_at(now)) if state == "exhausted" else None,
            generation=allowance.generation,
        )


class AllowancesShown(Shown):
    allowances: tuple[AllowanceShown, ...]


def _state(allowance: Allowance, *, now: float) -> AllowanceState:
    if allowance.limit == 0:
        return "closed"
    return "exhausted" if allowance.used_at(now) >= allowance.limit else "open"
