"""What `ports.registry.Registry` promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.domain.exposure import ExposureProfile
from shared.domain.live_configs import (
    ENDPOINTS,
    Context7Config,
    DeepWikiConfig,
    ExaConfig,
    ExaSearchType,
    FirecrawlConfig,
    MintlifyConfig,
    MintlifyEndpoint,
)
from shared.domain.registrations import MAX_PROVIDERS_PER_EXPOSURE, Capabilities, ProviderKind, ProviderStatus
from shared.errors import Conflict, NotFound, PreconditionFailed
from tests.contract.far_ahead import NOW, a_change, an_idempotency_record
from tests.contract.worlds import World
from tests.support.builders import a_provider, a_sealed_secret, an_internal_provider


async def test_a_registration_is_read_back_whole(world: World) -> None:
    everything = an_internal_provider(
        name="Nachtfähre 渡轮卡",
        priority=7,
        capabilities=Capabilities(locale=True, scoring=True),
        allow_private_network=True,
        send_conversation_id=True,
        module="ferries",
        signing_previous=a_sealed_secret("kgs_old"),
        signing_previous_until=NOW + 86_400.25,
        created_at=NOW + 0.123456,
        updated_at=NOW + 1 / 3,
    )
    sparse = a_provider(status=ProviderStatus.DISABLED, needs_test=True)
    for provider in (everything, sparse):
        await world.registry().create(provider, a_change())
        assert await world.registry().get(provider.id) == provider


@pytest.mark.parametrize(
    "provider_id", ["cs_aaaaaaaaaaaaaaaa", "ao_aaaaaaaaaaaaaaaa", "", "cs_", "xx_aaaaaaaaaaaaaaaa"]
)
async def test_unknown_and_malformed_ids_are_nothing(world: World, provider_id: str) -> None:
    assert await world.registry().get(provider_id) is None


async def test_a_name_is_taken_once_whatever_its_case_or_spelling(world: World) -> None:
    registry = world.registry()
    await registry.create(a_provider(name="Straße Café"), a_change())
    with pytest.raises(Conflict) as refusal:
        await registry.create(a_provider(name="STRASSE CAFE\u0301"), a_change())
    assert refusal.value.code == "name_taken"


@pytest.mark.parametrize("name", ["Help\u00a0centre", "Help centre\u200b", "Ｈelp centre", "help  centre"], ids=ascii)
async def test_a_name_is_taken_for_all_that_look_the_same(world: World, name: str) -> None:
    registry = world.registry()
    await registry.create(a_provider(name="Help centre"), a_change())
    other = a_provider(name="Other")
    await registry.create(other, a_change())
    with pytest.raises(Conflict) as refusal:
        await registry.create(a_provider(name=name), a_change())
    assert refusal.value.code == "name_taken"
    renamed = other.with_source(name=name, generation=2)
    with pytest.raises(Conflict) as refusal:
        await registry.replace(renamed, expected_generation=1, change=a_change())
    assert refusal.value.code == "name_taken"


async def test_a_name_may_change_in_ways_that_do_not_show(world: World) -> None:
    provider = a_provider(name="Help centre")
    await world.registry().create(provider, a_change())
    renamed = provider.with_source(name="HELP\u00a0centre", generation=2)
    await world.registry().replace(renamed, expected_generation=1, change=a_change())
    assert await world.registry().get(provider.id) == renamed
    await world.registry().delete(renamed, expected_generation=2, change=a_change())
    await world.registry().create(a_provider(name="Help centre"), a_change())


async def test_a_name_that_is_very_long_when_written_out_is_one_like_any_other(world: World) -> None:
    """Each character stands for eighteen: as the key of a row that would be too long."""
    long = "\ufdfa" * 120
    provider = a_provider(name=long)
    await world.registry().create(provider, a_change())
    with pytest.raises(Conflict):
        await world.registry().create(a_provider(name=long), a_change())
    await world.registry().delete(provider, expected_generation=1, change=a_change())
    await world.registry().create(a_provider(name=long), a_change())


async def test_each_exposure_profile_has_its_own_names(world: World) -> None:
    await world.registry().create(a_provider(name="Ferries"), a_change())
    await world.registry().create(an_internal_provider(name="Ferries"), a_change())
    assert len((await world.registry().page(limit=10, after=None)).items) == 2


async def test_a_refused_registration_leaves_nothing(world: World) -> None:
    await world.registry().create(a_provider(name="Ferries"), a_change())
    refused = a_provider(name="ferries")
    with pytest.raises(Conflict):
        await world.registry().create(refused, a_change(idempotency=an_idempotency_record(key="aa" * 32)))
    assert await world.registry().get(refused.id) is None
    assert await world.idempotency().find("aa" * 32) is None
    assert len((await world.audit_log().page(limit=10, after=None)).items) == 1


async def test_an_id_is_never_registered_twice(world: World) -> None:
    provider = a_provider()
    await world.registry().create(provider, a_change())
    with pytest.raises(Conflict) as refusal:
        await world.registry().create(provider.with_source(name="Another name"), a_change())
    assert refusal.value.code == "id_taken"


async def test_a_change_replaces_the_registration(world: World) -> None:
    provider = a_provider()
    await world.registry().create(provider, a_change())
    changed = provider.with_source(generation=2, priority=1)
    await world.registry().replace(changed, expected_generation=1, change=a_change())
    assert await world.registry().get(provider.id) == changed


async def test_a_change_of_an_older_generation_is_refused(world: World) -> None:
    provider = a_provider()
    await world.registry().create(provider, a_change())
    second = provider.with_source(generation=2, priority=2)
    await world.registry().replace(second, expected_generation=1, change=a_change())
    with pytest.raises(PreconditionFailed):
        await world.registry().replace(second.with_source(priority=3), expected_generation=1, change=a_change())
    with pytest.raises(PreconditionFailed):
        await world.registry().delete(provider, expected_generation=1, change=a_change())
    assert await world.registry().get(provider.id) == second


async def test_what_is_not_there_cannot_be_changed_or_deleted(world: World) -> None:
    provider = a_provider(generation=2)
    with pytest.raises(NotFound):
        await world.registry().replace(provider, expected_generation=1, change=a_change())
    with pytest.raises(NotFound):
        await world.registry().delete(provider, expected_generation=2, change=a_change())
    assert (await world.audit_log().page(limit=10, after=None)).items == ()


async def test_a_generation_moves_by_exactly_one(world: World) -> None:
    provider = a_provider()
    await world.registry().create(provider, a_change())
    for generation in (1, 3):
        changed = provider.with_source(generation=generation)
        with pytest.raises(ValueError, match="plus one"):
            await world.registry().replace(changed, expected_generation=1, change=a_change())


async def test_an_id_of_the_other_exposure_profile_is_refused(world: World) -> None:
    """However it came about: an internal registration never gets into the customer lane's store."""
    confused = replace(a_provider(), exposure_profile=ExposureProfile.AGENT_ONLY)
    with pytest.raises(ValueError, match="exposure profile"):
        await world.registry().create(confused, a_change())


async def test_a_live_service_is_read_back_whole(world: World) -> None:
    configs = [
        (ProviderKind.CONTEXT7, Context7Config(approved_hosts=("a.example.com", "b.example.com"), library="/acme/w")),
        (ProviderKind.EXA, ExaConfig(approved_hosts=("a.example.com",), search_type=ExaSearchType.INSTANT, results=3)),
        (ProviderKind.FIRECRAWL, FirecrawlConfig(approved_hosts=("a.example.com",))),
        (ProviderKind.MINTLIFY, MintlifyConfig(approved_hosts=("a.example.com",), endpoint=MintlifyEndpoint.ROOT)),
        (ProviderKind.DEEPWIKI, DeepWikiConfig(repositories=("acme/widgets", "acme/gears"))),
    ]
    for kind, config in configs:
        provider = an_internal_provider(kind=kind, config=config, signing=None, base_url=ENDPOINTS[kind])
        await world.registry().create(provider, a_change())
        assert await world.registry().get(provider.id) == provider
    assert len(await world.catalog().providers()) == 5
    assert await world.customer_catalog().sources() == ()


async def test_a_config_is_replaced_with_its_registration(world: World) -> None:
    config = Context7Config(approved_hosts=("a.example.com",), library="/acme/w")
    provider = an_internal_provider(kind=ProviderKind.CONTEXT7, config=config, signing=None)
    await world.registry().create(provider, a_change())
    other = provider.with_source(config=Context7Config(approved_hosts=("b.example.com",)), generation=2)
    await world.registry().replace(other, expected_generation=1, change=a_change())
    assert await world.registry().get(provider.id) == other


async def test_a_live_service_never_gets_into_the_customers_store(world: World) -> None:
    stray = a_provider(kind=ProviderKind.EXA, config=ExaConfig(approved_hosts=("a.example.com",)))
    with pytest.raises(ValueError, match=r"exposure_profile|agent_only"):
        await world.registry().create(stray, a_change())
    assert await world.customer_catalog().sources() == ()
    assert await world.catalog().providers() == ()


@pytest.mark.parametrize(
    "config", [None, FirecrawlConfig(approved_hosts=("a.example.com",))], ids=["none", "of-another-kind"]
)
async def test_a_live_service_without_its_own_config_is_not_stored(
    world: World, config: FirecrawlConfig | None
) -> None:
    with pytest.raises(ValueError, match="config"):
        await world.registry().create(an_internal_provider(kind=ProviderKind.EXA, config=config), a_change())


async def test_a_new_name_frees_the_old_one(world: World) -> None:
    provider = a_provider(name="Ferries")
    await world.registry().create(provider, a_change())
    renamed = provider.with_source(name="Night ferries", generation=2)
    await world.registry().replace(renamed, expected_generation=1, change=a_change())
    await world.registry().create(a_provider(name="ferries"), a_change())
    with pytest.raises(Conflict) as refusal:
        await world.registry().create(a_provider(name="night ferries"), a_change())
    assert refusal.value.code == "name_taken"


async def test_a_new_name_that_is_taken_changes_nothing(world: World) -> None:
    provider = a_provider(name="Ferries")
    await world.registry().create(provider, a_change())
    await world.registry().create(a_provider(name="Trains"), a_change())
    with pytest.raises(Conflict) as refusal:
        await world.registry().replace(
            provider.with_source(name="TRAINS", generation=2), expected_generation=1, change=a_change()
        )
    assert refusal.value.code == "name_taken"
    assert await world.registry().get(provider.id) == provider


async def test_a_name_may_change_its_case(world: World) -> None:
    provider = a_provider(name="ferries")
    await world.registry().create(provider, a_change())
    renamed = provider.with_source(name="Ferries", generation=2)
    await world.registry().replace(renamed, expected_generation=1, change=a_change())
    assert await world.registry().get(provider.id) == renamed


async def test_deleting_frees_the_name_and_the_room(world: World) -> None:
    provider = a_provider(name="Ferries")
    await world.registry().create(provider, a_change())
    await world.registry().delete(provider, expected_generation=1, change=a_change())
    assert await world.registry().get(provider.id) is None
    await world.registry().create(a_provider(name="Ferries"), a_change())


async def test_there_is_room_for_two_hundred_of_each_exposure_profile(quick_world: World) -> None:
    registry = quick_world.registry()
    providers = [a_provider() for _ in range(MAX_PROVIDERS_PER_EXPOSURE)]
    for provider in providers:
        await registry.create(provider, a_change())
    with pytest.raises(Conflict) as refusal:
        await registry.create(a_provider(), a_change())
    assert refusal.value.code == "provider_limit_reached"
    await registry.create(an_internal_provider(), a_change())
    await registry.delete(providers[0], expected_generation=1, change=a_change())
    await registry.create(a_provider(), a_change())
    assert len(await quick_world.catalog().providers()) == MAX_PROVIDERS_PER_EXPOSURE + 1


async def test_pages_ascend_by_id_over_both_exposure_profiles(world: World) -> None:
    providers = [a_provider() for _ in range(4)] + [an_internal_provider() for _ in range(3)]
    for provider in providers:
        await world.registry().create(provider, a_change())
    ids, after = [], None
    for _ in range(4):
        page = await world.registry().page(limit=2, after=after)
        ids += [provider.id for provider in page.items]
        after = page.next_after
    assert ids == sorted(provider.id for provider in providers)
    assert after is None


@pytest.mark.parametrize("count", [0, 1, 2])
async def test_a_page_that_holds_all_has_nothing_behind_it(world: World, count: int) -> None:
    for _ in range(count):
        await world.registry().create(a_provider(), a_change())
    page = await world.registry().page(limit=2, after=None)
    assert (len(page.items), page.next_after) == (count, None)


async def test_an_idempotency_key_is_used_once(world: World) -> None:
    record = an_idempotency_record()
    await world.registry().create(a_provider(name="Ferries"), a_change(idempotency=record))
    with pytest.raises(Conflict) as refusal:
        await world.registry().create(a_provider(name="Ferries"), a_change(idempotency=record))
    assert refusal.value.code == "idempotency_key_used", "a repeat is a repeat first, and a taken name second"
    with pytest.raises(Conflict):
        await world.registry().create(a_provider(), a_change(idempotency=record))


async def test_an_idempotency_key_past_its_time_may_be_used_again(world: World) -> None:
    record = an_idempotency_record(expires_at=world.clock.now() + 10)
    await world.registry().create(a_provider(), a_change(idempotency=record))
    world.clock.advance(10)
    again = replace(record, resource_id="cs_bbbbbbbbbbbbbbbb", expires_at=world.clock.now() + 10)
    await world.registry().create(a_provider(), a_change(idempotency=again))
    assert await world.idempotency().find(record.key) == again
