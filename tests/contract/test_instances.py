"""What `ports.instances.Instances`, `ports.credential_keys.CredentialKeys` and the registry promise of bindings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.domain.exposure import ExposureProfile
from shared.domain.instances import MAX_BINDINGS_PER_INSTANCE, MAX_INSTANCES_PER_EXPOSURE, Instance, Risk
from shared.domain.registrations import Provider, ProviderKind, ProviderStatus
from shared.errors import Conflict, NotFound, PreconditionFailed
from tests.contract.far_ahead import NOW, a_change, an_idempotency_record
from tests.contract.worlds import World
from tests.support.builders import a_binding, a_provider, a_sealed_secret, an_external_provider, an_instance

SAFE = ExposureProfile.CUSTOMER_SAFE


async def _kept(world: World, instance: Instance, *, key: str | None = None) -> Instance:
    await world.instances().create(instance, a_change(), credential_key=key or f"key of {instance.id}")
    return instance


async def _bound(world: World, instance: Instance, **over: object) -> Provider:
    provider = a_binding(instance, **over)
    await world.registry().create(provider, a_change())
    return provider


async def _read(world: World, instance: Instance) -> Instance:
    found = await world.instances().get(instance.id)
    assert found is not None
    return found


async def _changed(world: World, instance: Instance, *, key: str | None = None, **over: object) -> Instance:
    before = await _read(world, instance)
    after = replace(before, generation=before.generation + 1, **over)
    await world.instances().replace(after, expected_generation=before.generation, change=a_change(), credential_key=key)
    return after


# --- instances ---
async def test_an_instance_is_read_back_whole(world: World) -> None:
    everything = an_instance(
        name="Nachtfähre 渡轮",
        kind=ProviderKind.RAGFLOW,
        base_url="http://10.1.2.3:9380",
        acknowledged=frozenset(Risk),
        private_authority="-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n",
        created_at=NOW + 1 / 3,
    )
    sparse = an_instance(exposure_profile=SAFE, credential=None)
    await world.instances().create(everything, a_change(), credential_key="one")
    await world.instances().create(sparse, a_change(), credential_key=None)
    for instance in (everything, sparse):
        assert await world.instances().get(instance.id) == instance


@pytest.mark.parametrize("instance_id", ["aoi_aaaaaaaaaaaaaaaa", "csi_aaaaaaaaaaaaaaaa", "ao_aaaaaaaaaaaaaaaa", ""])
async def test_unknown_and_malformed_ids_are_nothing(quick_world: World, instance_id: str) -> None:
    assert await quick_world.instances().get(instance_id) is None
    assert await quick_world.instances().bindings(instance_id) == ()


async def test_a_name_is_taken_once_in_each_exposure_profile(world: World) -> None:
    await _kept(world, an_instance(name="Straße"))
    with pytest.raises(Conflict) as refusal:
        await _kept(world, an_instance(name="STRASSE\u200b"))
    assert refusal.value.code == "name_taken"
    await _kept(world, an_instance(name="Straße", exposure_profile=SAFE))


async def test_an_instance_and_a_provider_may_have_the_same_name(quick_world: World) -> None:
    await _kept(quick_world, an_instance(name="Ferries", exposure_profile=SAFE))
    await quick_world.registry().create(a_provider(name="Ferries"), a_change())


async def test_a_new_name_frees_the_old_one(quick_world: World) -> None:
    instance = await _kept(quick_world, an_instance(name="Ferries"))
    await _changed(quick_world, instance, name="Night ferries")
    await _kept(quick_world, an_instance(name="ferries"))
    with pytest.raises(Conflict) as refusal:
        await _changed(quick_world, instance, name="FERRIES")
    assert refusal.value.code == "name_taken"
    assert (await _read(quick_world, instance)).name == "Night ferries"


async def test_there_is_room_for_fifty_of_each_exposure_profile(quick_world: World) -> None:
    first = await _kept(quick_world, an_instance())
    for _ in range(MAX_INSTANCES_PER_EXPOSURE - 1):
        await _kept(quick_world, an_instance())
    with pytest.raises(Conflict) as refusal:
        await _kept(quick_world, an_instance())
    assert refusal.value.code == "instance_limit_reached"
    await _kept(quick_world, an_instance(exposure_profile=SAFE))
    await quick_world.instances().delete(first, expected_generation=1, change=a_change())
    await _kept(quick_world, an_instance())


async def test_pages_ascend_by_id_over_both_exposure_profiles(quick_world: World) -> None:
    profiles = [SAFE, ExposureProfile.AGENT_ONLY] * 2
    instances = [await _kept(quick_world, an_instance(exposure_profile=profile)) for profile in profiles]
    first = await quick_world.instances().page(limit=3, after=None)
    rest = await quick_world.instances().page(limit=3, after=first.next_after)
    assert [one.id for one in (*first.items, *rest.items)] == sorted(one.id for one in instances)
    assert (len(first.items), rest.next_after) == (3, None)


async def test_a_change_of_an_older_generation_is_refused(world: World) -> None:
    instance = await _kept(world, an_instance())
    changed = await _changed(world, instance, name="Newer")
    stale = replace(changed, name="Stale")
    with pytest.raises(PreconditionFailed):
        await world.instances().replace(stale, expected_generation=1, change=a_change(), credential_key=None)
    with pytest.raises(PreconditionFailed):
        await world.instances().delete(instance, expected_generation=1, change=a_change())
    assert await world.instances().get(instance.id) == changed


async def test_what_is_not_there_cannot_be_changed_or_deleted(quick_world: World) -> None:
    instance = an_instance(generation=2)
    with pytest.raises(NotFound):
        await quick_world.instances().replace(instance, expected_generation=1, change=a_change(), credential_key="one")
    with pytest.raises(NotFound):
        await quick_world.instances().delete(instance, expected_generation=2, change=a_change())
    assert (await quick_world.audit_log().page(limit=10, after=None)).items == ()


async def test_a_generation_moves_by_exactly_one(quick_world: World) -> None:
    instance = await _kept(quick_world, an_instance())
    for generation in (1, 3):
        with pytest.raises(ValueError, match="plus one"):
            await quick_world.instances().replace(
                replace(instance, generation=generation), expected_generation=1, change=a_change(), credential_key=None
            )


async def test_a_customer_safe_instance_reaches_public_content_alone(quick_world: World) -> None:
    stray = an_instance(exposure_profile=SAFE, reaches_public_only=False)
    with pytest.raises(ValueError, match="public"):
        await _kept(quick_world, stray)
    confused = replace(an_instance(), exposure_profile=SAFE, reaches_public_only=True)
    with pytest.raises(ValueError, match="exposure"):
        await _kept(quick_world, confused)


async def test_writes_are_audited_and_an_idempotency_key_is_used_once(quick_world: World) -> None:
    record = an_idempotency_record()
    instance = an_instance()
    await quick_world.instances().create(instance, a_change(idempotency=record), credential_key="one")
    with pytest.raises(Conflict) as refusal:
        await quick_world.instances().create(an_instance(), a_change(idempotency=record), credential_key="two")
    assert refusal.value.code == "idempotency_key_used"
    assert await quick_world.idempotency().find(record.key) == record
    assert len((await quick_world.audit_log().page(limit=10, after=None)).items) == 1


# --- bindings ---
async def test_a_binding_is_read_with_its_instance(world: World) -> None:
    instance = await _kept(world, an_instance(exposure_profile=SAFE, acknowledged=frozenset(Risk)))
    provider = await _bound(world, instance)
    assert provider.source.base_url == instance.base_url
    assert provider.source.allow_private_network
    assert provider.source.link == instance.link
    assert await world.registry().get(provider.id) == provider
    assert (await world.registry().page(limit=10, after=None)).items == (provider,)
    assert await world.instances().bindings(instance.id) == (provider,)
    assert await world.catalog().providers() == (provider,)
    assert [one.source for one in await world.customer_catalog().sources()] == [provider.source]
    assert (await _read(world, instance)).binding_ids == {provider.id}


async def test_a_changed_instance_shows_in_every_search_at_once(world: World) -> None:
    catalog, customer = world.catalog(), world.customer_catalog()
    instance = await _kept(world, an_instance(exposure_profile=SAFE))
    await _bound(world, instance)
    await catalog.providers(), await customer.sources()
    secret = a_sealed_secret("dataset-new")
    changed = await _changed(
        world, instance, base_url="https://elsewhere.fern-desk.test/v1", credential=secret, key="new"
    )
    (provider,) = await catalog.providers()
    (source,) = await customer.sources()
    assert provider.source == source.source
    assert provider.source.base_url == "https://elsewhere.fern-desk.test/v1"
    assert provider.source.link == changed.link


async def test_one_knowledge_base_is_bound_once(world: World) -> None:
    instance, other = await _kept(world, an_instance()), await _kept(world, an_instance())
    provider = await _bound(world, instance, remote_id="handbook")
    with pytest.raises(Conflict) as refusal:
        await _bound(world, instance, remote_id="handbook")
    assert refusal.value.code == "already_bound"
    await _bound(world, other, remote_id="handbook")
    await world.registry().delete(provider, expected_generation=1, change=a_change())
    await _bound(world, instance, remote_id="handbook")


async def test_identifiers_of_other_servers_are_told_apart_to_the_letter(quick_world: World) -> None:
    instance = await _kept(quick_world, an_instance())
    for remote_id in ("handbook", "Handbook", "handbook ", "hand#book", "手册"):
        await _bound(quick_world, instance, remote_id=remote_id)
    assert len(await quick_world.instances().bindings(instance.id)) == 5


async def test_a_binding_that_was_tested_with_an_older_instance_is_refused(world: World) -> None:
    instance = await _kept(world, an_instance())
    tested = a_binding(instance)
    await _changed(world, instance, name="Newer")
    with pytest.raises(Conflict) as refusal:
        await world.registry().create(tested, a_change())
    assert refusal.value.code == "config_changed"
    assert await world.registry().get(tested.id) is None
    await _bound(world, await _read(world, instance), remote_id=tested.source.config.remote_id)


async def test_a_binding_to_nothing_is_refused(quick_world: World) -> None:
    with pytest.raises(Conflict) as refusal:
        await _bound(quick_world, an_instance())
    assert refusal.value.code == "config_changed"


async def test_a_binding_is_changed_while_its_instance_is_as_it_was_read(quick_world: World) -> None:
    instance = await _kept(quick_world, an_instance())
    provider = await _bound(quick_world, instance)
    renamed = provider.with_source(name="Renamed", generation=2)
    await quick_world.registry().replace(renamed, expected_generation=1, change=a_change())
    await _changed(quick_world, instance, name="Newer")
    again = renamed.with_source(name="Again", generation=3)
    with pytest.raises(Conflict) as refusal:
        await quick_world.registry().replace(again, expected_generation=2, change=a_change())
    assert refusal.value.code == "config_changed"
    fresh = (await quick_world.registry().get(provider.id)).with_source(name="Again", generation=3)
    await quick_world.registry().replace(fresh, expected_generation=2, change=a_change())
    assert await quick_world.registry().get(provider.id) == fresh


async def test_a_binding_keeps_what_it_is_bound_to(quick_world: World) -> None:
    instance = await _kept(quick_world, an_instance())
    provider = await _bound(quick_world, instance)
    moved = provider.with_source(config=replace(provider.source.config, remote_id="another"), generation=2)
    with pytest.raises(ValueError, match="bound"):
        await quick_world.registry().replace(moved, expected_generation=1, change=a_change())


async def test_an_instance_takes_thirty_bindings(quick_world: World) -> None:
    instance = await _kept(quick_world, an_instance())
    bound = [await _bound(quick_world, instance) for _ in range(MAX_BINDINGS_PER_INSTANCE)]
    with pytest.raises(Conflict) as refusal:
        await _bound(quick_world, instance)
    assert refusal.value.code == "binding_limit_reached"
    await quick_world.registry().delete(bound[0], expected_generation=1, change=a_change())
    await _bound(quick_world, instance)
    everything = await quick_world.instances().bindings(instance.id)
    assert len(everything) == MAX_BINDINGS_PER_INSTANCE
    ids = frozenset(one.id for one in everything)
    await quick_world.instances().delete(instance, expected_generation=1, change=a_change(), bindings=ids)
    assert await quick_world.catalog().providers() == ()


async def test_an_instance_in_use_is_deleted_with_exactly_its_bindings_alone(world: World) -> None:
    instance = await _kept(world, an_instance())
    first, second = await _bound(world, instance), await _bound(world, instance)
    for named in (frozenset(), frozenset({first.id})):
        with pytest.raises(Conflict) as refusal:
            await world.instances().delete(instance, expected_generation=1, change=a_change(), bindings=named)
        assert refusal.value.code == "instance_in_use"
        assert refusal.value.facts == {"bindings": sorted((first.id, second.id))}
    both = frozenset({first.id, second.id})
    await world.instances().delete(instance, expected_generation=1, change=a_change(), bindings=both)
    assert await world.instances().get(instance.id) is None
    assert await world.registry().get(first.id) is None
    assert await world.catalog().providers() == ()


async def test_bindings_that_went_with_their_instance_leave_their_names_and_their_room(quick_world: World) -> None:
    instance = await _kept(quick_world, an_instance(name="Server"))
    ids = frozenset({(await _bound(quick_world, instance, name="Handbook")).id})
    await quick_world.instances().delete(instance, expected_generation=1, change=a_change(), bindings=ids)
    again = await _kept(quick_world, an_instance(name="Server"))
    await _bound(quick_world, again, name="Handbook")


async def test_a_binding_goes_with_its_instance_however_it_has_changed(quick_world: World) -> None:
    """It was named by its id."""
    instance = await _kept(quick_world, an_instance())
    provider = await _bound(quick_world, instance)
    changed = provider.with_source(name="Changed", generation=2)
    await quick_world.registry().replace(changed, expected_generation=1, change=a_change())
    ids = frozenset({provider.id})
    await quick_world.instances().delete(instance, expected_generation=1, change=a_change(), bindings=ids)
    assert await quick_world.registry().get(provider.id) is None
    await quick_world.registry().create(a_provider(name="Changed"), a_change())


async def test_bindings_are_switched_off_with_the_change_of_their_instance(world: World) -> None:
    instance = await _kept(world, an_instance(exposure_profile=SAFE))
    provider = await _bound(world, instance)
    before = await _read(world, instance)
    off = replace(provider.with_source(generation=2), status=ProviderStatus.DISABLED, needs_test=True)
    moved = replace(before, base_url="https://new.fern-desk.test/v1", generation=2)
    await world.instances().replace(
        moved, expected_generation=1, change=a_change(), credential_key="new", disable=frozenset({off.id})
    )
    read = await world.registry().get(provider.id)
    assert (read.status, read.needs_test, read.generation) == (ProviderStatus.DISABLED, True, 2)
    assert read.source == moved.at(off.source)
    assert await world.customer_catalog().sources() == ()


async def test_a_change_that_missed_a_binding_is_not_written(world: World) -> None:
    """It might have had to switch it off."""
    instance = await _kept(world, an_instance())
    before = await _read(world, instance)
    await _bound(world, instance)
    moved = replace(before, base_url="https://new.fern-desk.test/v1", generation=2)
    with pytest.raises(Conflict) as refusal:
        await world.instances().replace(moved, expected_generation=1, change=a_change(), credential_key=None)
    assert refusal.value.code == "busy"
    assert (await _read(world, instance)).base_url == instance.base_url


async def test_a_binding_that_changed_is_switched_off_as_it_is(quick_world: World) -> None:
    instance = await _kept(quick_world, an_instance())
    provider = await _bound(quick_world, instance)
    before = await _read(quick_world, instance)
    renamed = provider.with_source(name="Renamed", generation=2)
    await quick_world.registry().replace(renamed, expected_generation=1, change=a_change())
    await quick_world.instances().replace(
        replace(before, generation=2),
        expected_generation=1,
        change=a_change(),
        credential_key=None,
        disable=frozenset({provider.id}),
    )
    read = await quick_world.registry().get(provider.id)
    assert (read.source.name, read.status, read.generation) == ("Renamed", ProviderStatus.DISABLED, 3)


async def test_servers_are_left_to_searches(world: World) -> None:
    """Whoever fetches from live services gets no credential of a server to see."""
    await _bound(world, await _kept(world, an_instance()))
    await world.registry().create(an_external_provider(), a_change(), credential_key="one")
    assert len(await world.catalog().providers()) == 2
    assert await world.internal_catalog().providers() == ()


# --- providers with a credential of their own ---
async def test_a_provider_with_a_credential_of_its_own_is_read_back_whole(world: World) -> None:
    internal, safe = an_external_provider(), an_external_provider(exposure_profile=SAFE)
    link = replace(internal.source.link, allow_plain_http=True, private_authority="pem")
    internal = internal.with_source(link=link, allow_private_network=True, base_url="http://10.0.0.9/kb")
    for provider in (internal, safe):
        await world.registry().create(provider, a_change(), credential_key=f"key of {provider.id}")
        assert await world.registry().get(provider.id) == provider
    assert [one.source for one in await world.customer_catalog().sources()] == [safe.source]


# --- credentials ---
async def test_one_credential_is_not_used_under_both_exposure_profiles(world: World) -> None:
    await _kept(world, an_instance(), key="shared")
    await _kept(world, an_instance(), key="shared")
    safe = an_instance(exposure_profile=SAFE)
    with pytest.raises(Conflict) as refusal:
        await _kept(world, safe, key="shared")
    assert refusal.value.code == "credential_used_elsewhere"
    assert await world.instances().get(safe.id) is None


async def test_a_credential_is_free_when_the_last_that_had_it_is_gone(quick_world: World) -> None:
    first, second = [await _kept(quick_world, an_instance(), key="shared") for _ in range(2)]
    safe = an_instance(exposure_profile=SAFE)
    await quick_world.instances().delete(first, expected_generation=1, change=a_change())
    with pytest.raises(Conflict):
        await _kept(quick_world, safe, key="shared")
    await _changed(quick_world, second, credential=a_sealed_secret("new"), key="another")
    await _kept(quick_world, safe, key="shared")


async def test_a_cleared_credential_is_free(quick_world: World) -> None:
    instance = await _kept(quick_world, an_instance(), key="shared")
    await _changed(quick_world, instance, credential=None)
    await _kept(quick_world, an_instance(exposure_profile=SAFE), key="shared")
    with pytest.raises(Conflict) as refusal:
        await _changed(quick_world, instance, credential=a_sealed_secret("back"), key="shared")
    assert refusal.value.code == "credential_used_elsewhere"


async def test_a_credential_that_is_kept_stays_taken(quick_world: World) -> None:
    instance = await _kept(quick_world, an_instance(), key="shared")
    await _changed(quick_world, instance, name="Renamed")
    await _changed(quick_world, instance, name="Again", key="shared")
    with pytest.raises(Conflict):
        await _kept(quick_world, an_instance(exposure_profile=SAFE), key="shared")
    await quick_world.instances().delete(await _read(quick_world, instance), expected_generation=3, change=a_change())
    await _kept(quick_world, an_instance(exposure_profile=SAFE), key="shared")


async def test_providers_with_a_credential_of_their_own_count_too(quick_world: World) -> None:
    registry, external = quick_world.registry(), an_external_provider()
    await registry.create(external, a_change(), credential_key="shared")
    safe = an_instance(exposure_profile=SAFE)
    with pytest.raises(Conflict):
        await _kept(quick_world, safe, key="shared")
    changed = external.with_source(generation=2, priority=1)
    await registry.replace(changed, expected_generation=1, change=a_change())
    with pytest.raises(Conflict):
        await _kept(quick_world, safe, key="shared")
    await registry.delete(changed, expected_generation=2, change=a_change())
    await _kept(quick_world, safe, key="shared")
    with pytest.raises(Conflict) as refusal:
        await registry.create(an_external_provider(), a_change(), credential_key="shared")
    assert refusal.value.code == "credential_used_elsewhere"


async def test_a_credential_without_its_key_is_refused(quick_world: World) -> None:
    with pytest.raises(ValueError, match="key"):
        await quick_world.instances().create(an_instance(), a_change(), credential_key=None)
    with pytest.raises(ValueError, match="key"):
        await quick_world.registry().create(an_external_provider(), a_change())
    bare = an_instance(credential=None)
    await quick_world.instances().create(bare, a_change(), credential_key=None)
    with pytest.raises(ValueError, match="key"):
        await _changed(quick_world, bare, credential=a_sealed_secret())


@pytest.mark.parametrize(
    ("credential", "is_same"), [("dataset-1", True), (" dataset-1\n", True), ("dataset-2", False), ("DATASET-1", False)]
)
async def test_a_credential_has_one_key_of_its_own(quick_world: World, credential: str, is_same: bool) -> None:
    first = await quick_world.credential_keys().key_of(credential="dataset-1")
    second = await quick_world.credential_keys().key_of(credential=credential)
    assert (first == second) is is_same
    assert len(first) == 64
