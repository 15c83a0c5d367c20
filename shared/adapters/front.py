"""What a function recognises the distribution in front by, where there is one."""

from __future__ import annotations

from shared.adapters import aws
from shared.ports.clock import Clock
from shared.ports.front_door import FrontDoor
from shared.settings.front import Front


def front_of(settings: Front, *, table: str, clock: Clock) -> FrontDoor | None:
    """None where nothing stands in front. `table` holds the row of digests."""
    if not settings.front_required:
        return None
    from shared.adapters.front_door import DynamoFrontDoor  # most gateways have no distribution

    return DynamoFrontDoor(aws.dynamodb_at_the_door(), table=table, clock=clock)
