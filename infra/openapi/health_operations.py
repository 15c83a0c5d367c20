"""The operations of health."""

from __future__ import annotations

from infra.openapi.operation import Operation
from shared.web.health_models import HealthShown, OneHealthShown

_TOKENS = ("adminToken", "agentToken")
_HEALTH = "/api/v1/knowledge/health"

HEALTH_OPERATIONS: dict[tuple[str, str], Operation] = {
    ("GET", _HEALTH): Operation(
        id="showHealth",
        tag="Health",
        summary="Show how the providers are, the worst first",
        description=(
            "200 however they are. Nobody is asked anything: the answer tells what searches have met, what the probe, "
            "which looks at all providers every five minutes, has found, and how the pools are. `looked` says what it "
            "looks at; `nothing` where that would cost a search. An agent sees the providers that its credential may "
            "reach, and their pools. `status` leaves out providers that an operator has switched off."
        ),
        tokens=_TOKENS,
        answer=(HealthShown,),
    ),
    ("GET", _HEALTH + "/{providerId}"): Operation(
        id="showHealthOfProvider",
        tag="Health",
        summary="Show how one provider is, and what has happened to it",
        description="One that is unknown and one that the credential may not reach are the same 404.",
        tokens=_TOKENS,
        answer=(OneHealthShown,),
    ),
}
