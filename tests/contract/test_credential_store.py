"""What the ports `CredentialStore`, `Credentials` and `Origins` promise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.domain.credentials import MAX_ORIGINS_PER_CREDENTIAL, Credential, CredentialStatus
from shared.domain.exposure import CredentialClass, Grant
from shared.domain.identifiers import ROOT_ID
from shared.domain.root import RootSwitch
from shared.errors import Conflict, NotFound, PreconditionFailed
from tests.contract.far_ahead import NOW, a_change, an_idempotency_record
from tests.contract.root_switches import turn_root
from tests.contract.worlds import World
from tests.support.builders import a_credential

HELP = "https://help.fern-desk.test"
SHOP = "https://shop.fern-desk.test"


def an_admin(**over: object) -> Credential:
    return a_credential(credential_class=CredentialClass.ADMIN, **over)


def a_widget(*origins: str, **over: object) -> Credential:
    return a_credential(credential_class=CredentialClass.PUBLIC, origins=origins or (HELP,), **over)


def changed(credential: Credential, **over: object) -> Credential:
    return replace(credential, generation=credential.generation + 1, **over)


async def _created(world: World, *credentials: Credential) -> None:
    for credential in credentials:
        await world.credential_store().create(credential, a_change())


async def _replace(world: World, credential: Credential) -> None:
    expected = credential.generation - 1
    await world.credential_store().replace(credential, expected_generation=expected, change=a_change())


async def _delete(world: World, credential: Credential) -> None:
    await world.credential_store().delete(credential, expected_generation=credential.generation, change=a_change())


@pytest.mark.parametrize(
    "credential",
    [
        a_credential(grants=frozenset({Grant.EXTERNAL_KNOWLEDGE_AGENT}), allowed_providers=("cs_aaaaaaaaaaaaaaaa",)),
        a_credential(allowed_providers=()),
        a_credential(credential_class=CredentialClass.ASSISTANT, grants=frozenset({Grant.READ_PUBLIC})),
        a_credential(status=CredentialStatus.DISABLED, expires_at=NOW + 0.5, rate_per_minute=1, generation=4),
        an_admin(name="Grüße 渡轮"),
        a_widget(HELP, SHOP, address_rate_per_minute=3),
    ],
    ids=lambda credential: credential.credential_class,
)
async def test_a_credential_is_read_back_whole(world: World, credential: Credential) -> None:
    await _created(world, credential)
    assert await world.credential_store().get(credential.id) == credential


async def test_a_token_finds_its_credential_in_the_store_of_its_class_alone(world: World) -> None:
    agent, widget = a_credential(), a_widget()
    await _created(world, agent, widget)
    assert await world.credentials().find(agent.id) == agent
    assert await world.credentials().find(widget.id) is None
    assert await world.widget_credentials().find(widget.id) == widget
    assert await world.widget_credentials().find(agent.id) is None


@pytest.mark.parametrize("credential_id", ["aaaaaaaaaaaaaaaa", ROOT_ID, "", "AAAAAAAAAAAAAAAA", "a" * 4_000])
async def test_unknown_and_malformed_ids_are_nothing(world: World, credential_id: str) -> None:
    assert await world.credential_store().get(credential_id) is None
    assert await world.credentials().find(credential_id) is None


async def test_an_unusable_credential_is_found_as_well(world: World) -> None:
    """Whether it may be used is for the caller to judge, with the time of the request."""
    expired = a_credential(expires_at=NOW - 1)
    await _created(world, expired)
    assert await world.credentials().find(expired.id) == expired


async def test_a_deleted_credential_is_gone_at_once(world: World) -> None:
    credential = a_credential()
    await _created(world, credential)
    await _delete(world, credential)
    assert await world.credentials().find(credential.id) is None
    with pytest.raises(NotFound):
        await _delete(world, credential)


async def test_a_change_of_an_older_generation_is_refused(world: World) -> None:
    credential = a_credential()
    await _created(world, credential)
    await _replace(world, changed(credential, name="Second"))
    with pytest.raises(PreconditionFailed):
        await _replace(world, changed(credential, name="Third"))
    with pytest.raises(PreconditionFailed):
        await _delete(world, credential)
    assert (await world.credentials().find(credential.id)).name == "Second"


async def test_a_credential_keeps_its_class(world: World) -> None:
    credential = a_credential()
    await _created(world, credential)
    for other in (CredentialClass.ADMIN, CredentialClass.PUBLIC):
        with pytest.raises(ValueError, match="class"):
            await _replace(world, changed(credential, credential_class=other))


async def test_an_id_is_never_used_twice(world: World) -> None:
    credential = a_credential()
    await _created(world, credential)
    with pytest.raises(Conflict) as refusal:
        await _created(world, replace(credential, name="Another"))
    assert refusal.value.code == "id_taken"


async def test_an_idempotency_key_is_used_once(world: World) -> None:
    change = a_change(idempotency=an_idempotency_record())
    await world.credential_store().create(a_credential(), change)
    with pytest.raises(Conflict) as refusal:
        await world.credential_store().create(a_credential(), a_change(idempotency=change.idempotency))
    assert refusal.value.code == "idempotency_key_used"


async def test_pages_ascend_by_id_over_all_classes_and_leave_root_out(world: World) -> None:
    credentials = [an_admin(), a_credential(), a_widget(), a_widget(), a_credential()]
    await _created(world, *credentials)
    await turn_root(world.credential_store(), on=False)
    ids, after = [], None
    for _ in range(3):
        page = await world.credential_store().page(limit=2, after=after)
        ids += [credential.id for credential in page.items]
        after = page.next_after
    assert ids == sorted(credential.id for credential in credentials)
    assert after is None


async def test_an_origin_is_listed_by_an_active_widget_credential(world: World) -> None:
    await _created(world, a_widget(HELP))
    assert await world.origins().is_listed(HELP)
    for other in (SHOP, HELP + "/", HELP + ":8443", HELP.upper(), HELP + ".evil.test", "http" + HELP[5:], "null", ""):
        assert not await world.origins().is_listed(other)


async def test_an_absurdly_long_origin_is_simply_not_listed(world: World) -> None:
    assert not await world.origins().is_listed("https://" + "a" * 9_000)


async def test_origins_follow_their_credential(world: World) -> None:
    widget = a_widget(HELP)
    await _created(world, widget)
    widget = changed(widget, origins=(SHOP,))
    await _replace(world, widget)
    assert not await world.origins().is_listed(HELP)
    assert await world.origins().is_listed(SHOP)

    widget = changed(widget, status=CredentialStatus.DISABLED)
    await _replace(world, widget)
    assert not await world.origins().is_listed(SHOP)

    widget = changed(widget, status=CredentialStatus.ACTIVE)
    await _replace(world, widget)
    assert await world.origins().is_listed(SHOP)

    await _delete(world, widget)
    assert not await world.origins().is_listed(SHOP)


async def test_an_origin_counts_while_one_credential_lists_it(world: World) -> None:
    one, other = a_widget(HELP), a_widget(HELP, SHOP)
    await _created(world, one, other)
    await _delete(world, one)
    assert await world.origins().is_listed(HELP)
    await _delete(world, other)
    assert not await world.origins().is_listed(HELP)


async def test_the_origins_of_an_expired_credential_do_not_count(world: World) -> None:
    """The row itself is still there: a store deletes what is past its time when it comes to it."""
    await _created(world, a_widget(HELP, expires_at=world.clock.now() + 0.5))
    assert await world.origins().is_listed(HELP)
    world.clock.advance(0.5)
    assert not await world.origins().is_listed(HELP)


async def test_all_origins_of_a_credential_can_change_in_one_write(world: World) -> None:
    most = MAX_ORIGINS_PER_CREDENTIAL
    widget = a_widget(*(f"https://a{n}.fern-desk.test" for n in range(most)))
    await _created(world, widget)
    await _replace(world, changed(widget, origins=tuple(f"https://b{n}.fern-desk.test" for n in range(most))))
    assert await world.origins().is_listed(f"https://b{most - 1}.fern-desk.test")
    assert not await world.origins().is_listed("https://a0.fern-desk.test")


async def test_root_is_on_until_somebody_switches_it_off(world: World) -> None:
    store = world.credential_store()
    assert await store.root_switch() == RootSwitch(is_on=True, generation=1)
    await _created(world, an_admin())
    await turn_root(store, on=False)
    assert await world.credential_store().root_switch() == RootSwitch(is_on=False, generation=2)
    await turn_root(store, on=True)
    assert await world.credential_store().root_switch() == RootSwitch(is_on=True, generation=3)
    assert len((await world.audit_log().page(limit=10, after=None)).items) == 3


@pytest.mark.parametrize("stale", [1, 2, 4])
async def test_a_switch_of_another_generation_of_root_is_refused(world: World, stale: int) -> None:
    """Also of the first one, which looked the same."""
    await _created(world, an_admin())
    await turn_root(world.credential_store(), on=False)
    await turn_root(world.credential_store(), on=True)
    for is_on in (False, True):
        switch = RootSwitch(is_on=is_on, generation=stale + 1)
        with pytest.raises(PreconditionFailed):
            await world.credential_store().switch_root(switch, expected_generation=stale, change=a_change())
    assert await world.credential_store().root_switch() == RootSwitch(is_on=True, generation=3)
    assert len((await world.audit_log().page(limit=10, after=None)).items) == 3


async def test_a_switch_of_root_leaves_out_no_generation(world: World) -> None:
    with pytest.raises(ValueError, match="plus one"):
        await world.credential_store().switch_root(RootSwitch(generation=3), expected_generation=1, change=a_change())


@pytest.mark.parametrize(
    "others",
    [
        [],
        [a_credential()],
        [an_admin(status=CredentialStatus.DISABLED)],
        [an_admin(expires_at=NOW + 900)],
    ],
    ids=["nobody", "an agent", "a disabled admin", "an admin that ends"],
)
async def test_root_stays_on_without_a_lasting_admin(world: World, others: list[Credential]) -> None:
    await _created(world, *others)
    with pytest.raises(Conflict) as refusal:
        await turn_root(world.credential_store(), on=False)
    assert refusal.value.code == "last_admin"
    assert await world.credential_store().root_switch() == RootSwitch()


@pytest.mark.parametrize("over", [{"status": CredentialStatus.DISABLED}, {"expires_at": NOW + 900}], ids=str)
async def test_the_last_admin_stays_while_root_is_off(world: World, over: dict[str, object]) -> None:
    admin = an_admin()
    await _created(world, admin)
    await turn_root(world.credential_store(), on=False)
    with pytest.raises(Conflict) as refusal:
        await _replace(world, changed(admin, **over))
    assert refusal.value.code == "last_admin"
    with pytest.raises(Conflict) as refusal:
        await _delete(world, admin)
    assert refusal.value.code == "last_admin"

    renamed = changed(admin, name="Still here")
    await _replace(world, renamed)
    await _created(world, an_admin())
    await _replace(world, changed(renamed, **over))


async def test_the_last_admin_may_go_while_root_is_on(world: World) -> None:
    admin = an_admin()
    await _created(world, admin)
    await _delete(world, admin)
    assert await world.credential_store().get(admin.id) is None
