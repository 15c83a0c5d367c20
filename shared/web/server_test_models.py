"""Testing a provider on a self-hosted server, on the wire."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shared.domain.outcomes import OutcomeCode, OutcomeStatus
from shared.domain.passages import Warning_
from shared.web.provider_models import ProviderShown
from shared.web.provider_test_models import ActivationLost, PassageShown
from shared.web.shown import Shown

MayBill = Literal["upstream_may_bill_or_log"]


class ServerConditions(Shown):
    """What the server was asked under in this one call."""

    base_url: str
    timeout_ms: int
    limit: int
    max_snippet_characters: int


class ServerTestShown(Shown):
    """`status` is success, empty or failed. `explanation` says in words what `errorCode` means and what to do; nothing
    that the server said is repeated but its passages.
    """

    status: OutcomeStatus
    error_code: OutcomeCode | None
    explanation: str | None
    retry_at: Annotated[str, Field(json_schema_extra={"format": "date-time"})] | None
    duration_ms: int
    result_count: int
    results: tuple[PassageShown, ...]
    warnings: tuple[Warning_ | ActivationLost | MayBill, ...] = Field(
        description="What was noticed. `upstream_may_bill_or_log`: the server may have billed and logged the search. "
        "`activation_lost`: it answered, and this test has not turned it on: it or its instance was changed or removed "
        "while the test ran."
    )
    activated: bool = Field(description="Whether this test has turned it on.")
    effective: ServerConditions
    provider: ProviderShown
