"""What `ports.idempotency.Idempotency` promises."""

from __future__ import annotations

from tests.contract.far_ahead import a_change, an_idempotency_record
from tests.contract.worlds import World
from tests.support.builders import a_credential


async def test_a_record_is_found_by_its_key(world: World) -> None:
    record = an_idempotency_record(expires_at=world.clock.now() + 0.75, status=201)
    await world.credential_store().create(a_credential(), a_change(idempotency=record))
    assert await world.idempotency().find(record.key) == record
    assert await world.idempotency().find("ff" * 32) is None


async def test_a_record_past_its_time_is_absent_although_its_row_is_still_there(world: World) -> None:
    record = an_idempotency_record(expires_at=world.clock.now() + 0.75)
    await world.credential_store().create(a_credential(), a_change(idempotency=record))
    world.clock.advance(0.75)
    assert await world.idempotency().find(record.key) is None
