"""What `ports.audit_log.AuditLog` promises, and that every write has its line."""

from __future__ import annotations

from shared.domain.audit import AUDIT_RETENTION_S
from tests.contract.far_ahead import NOW, a_change
from tests.contract.root_switches import turn_root
from tests.contract.worlds import World
from tests.support.builders import a_credential, a_provider


async def test_a_line_is_read_back_whole(world: World) -> None:
    change = a_change(
        at=NOW + 0.25,
        actor="abcdefghijklmnop",
        action="provider.updated",
        generation_before=3,
        generation_after=4,
        before={
            "baseUrl": "https://kb.fern-desk.test/alt",
            "allowPrivateNetwork": False,
            "origins": [],
            "grants": None,
        },
        after={"baseUrl": "https://kb.fern-desk.test/für", "allowPrivateNetwork": True, "origins": ["https://a.test"]},
    )
    await world.registry().create(a_provider(), change)
    assert (await world.audit_log().page(limit=10, after=None)).items == (change.audit,)


async def test_every_write_leaves_one_line_newest_first(world: World) -> None:
    provider, credential = a_provider(), a_credential()
    changes = [a_change(at=NOW + n) for n in range(6)]
    await world.registry().create(provider, changes[0])
    provider = provider.with_source(generation=2)
    await world.registry().replace(provider, expected_generation=1, change=changes[1])
    await world.registry().delete(provider, expected_generation=2, change=changes[2])
    await world.credential_store().create(credential, changes[3])
    await world.credential_store().delete(credential, expected_generation=1, change=changes[4])
    await turn_root(world.credential_store(), on=True, change=changes[5])
    page = await world.audit_log().page(limit=10, after=None)
    assert page.items == tuple(change.audit for change in reversed(changes))


async def test_pages_go_back_in_time_without_gaps(world: World) -> None:
    changes = [a_change(at=NOW + n) for n in range(5)]
    for change in changes:
        await world.credential_store().create(a_credential(), change)
    seen, after = [], None
    for _ in range(3):
        page = await world.audit_log().page(limit=2, after=after)
        seen += [entry.id for entry in page.items]
        after = page.next_after
    assert seen == [change.audit.id for change in reversed(changes)]
    assert after is None


async def test_lines_past_their_time_are_not_shown(world: World) -> None:
    old, young = a_change(at=NOW), a_change(at=NOW + 2)
    for change in (old, young):
        await world.credential_store().create(a_credential(), change)
    world.clock.advance(AUDIT_RETENTION_S + 1)
    assert (await world.audit_log().page(limit=1, after=None)).items == (young.audit,)
    assert (await world.audit_log().page(limit=1, after=None)).next_after is None
