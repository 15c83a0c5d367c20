"""A live service in a store that was tampered with: no lane believes it, and no customer lane can make it a source."""

from __future__ import annotations

from typing import Any

import pytest

from shared.adapters.provider_items import item_of
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import new_provider_id
from shared.domain.live_configs import CONFIG_OF, DeepWikiConfig, ExaConfig
from shared.domain.registrations import LIVE_KINDS, SERVER_KINDS, Provider, ProviderConfig, ProviderKind
from tests.contract.far_ahead import a_change
from tests.contract.worlds import StoreWorld
from tests.support.builders import a_provider, an_internal_provider

pytestmark = pytest.mark.emulator

LIVE = sorted(LIVE_KINDS)
EXA = ExaConfig(approved_hosts=("docs.example.com",))


def a_config(kind: ProviderKind) -> ProviderConfig:
    if kind is ProviderKind.DEEPWIKI:
        return DeepWikiConfig(repositories=("acme/widgets",))
    return CONFIG_OF[kind](approved_hosts=("docs.example.com",))  # type: ignore[call-arg]  # a policy, each of them


def a_live_provider(kind: ProviderKind = ProviderKind.EXA) -> Provider:
    return an_internal_provider(kind=kind, config=a_config(kind), signing=None)


async def _a_good_one(store: StoreWorld) -> Provider:
    good = a_provider()
    await store.registry().create(good, a_change())
    return good


@pytest.mark.parametrize("kind", LIVE)
async def test_a_live_row_in_the_public_table_is_in_no_lane(store: StoreWorld, kind: ProviderKind) -> None:
    """However much it says that it belongs there: its id, its profile, a secret, an active status."""
    good = await _a_good_one(store)
    contract = item_of(a_provider())
    stray = contract | {"kind": {"S": kind.value}, "config": item_of(a_live_provider(kind))["config"]}
    store.clients.dynamodb.put_item(TableName=store.public_table, Item=stray)

    assert [one.source for one in await store.customer_catalog().sources()] == [good.source]
    assert await store.catalog().providers() == (good,)
    assert await store.registry().get(stray["sk"]["S"]) is None
    assert (await store.registry().page(limit=10, after=None)).items == (good,)


@pytest.mark.parametrize("kind", sorted(set(ProviderKind) - {ProviderKind.CONTRACT}))
async def test_the_customer_lane_builds_no_source_but_of_the_contract(store: StoreWorld, kind: ProviderKind) -> None:
    good = await _a_good_one(store)
    stray = item_of(a_provider()) | {"kind": {"S": kind.value}}
    store.clients.dynamodb.put_item(TableName=store.public_table, Item=stray)

    assert [one.source for one in await store.customer_catalog().sources()] == [good.source]
    assert LIVE_KINDS | SERVER_KINDS | {ProviderKind.CONTRACT} == set(ProviderKind)


async def test_the_same_row_as_a_contract_would_be_a_source(store: StoreWorld) -> None:
    """So it is the kind that keeps the others out."""
    good, plain = await _a_good_one(store), a_provider()
    store.clients.dynamodb.put_item(TableName=store.public_table, Item=item_of(plain))

    assert {one.source.id for one in await store.customer_catalog().sources()} == {good.id, plain.id}


@pytest.mark.parametrize(
    "config",
    [
        None,
        {"S": "docs.example.com"},
        {"M": {}},
        {"M": {"approved_hosts": {"S": "docs.example.com"}}},
        {"M": {"approved_hosts": {"L": [{"N": "5"}]}}},
        {"M": {"approved_hosts": {"L": []}, "search_type": {"S": "deep"}}},
        {"M": {"approved_hosts": {"L": []}, "results": {"S": "many"}}},
        {"M": {"approved_hosts": {"L": []}, "results": {"BOOL": True}}},
        {"M": {"repositories": {"L": [{"S": "acme/widgets"}]}}},
    ],
    ids=["none", "text", "empty", "hosts-as-text", "numbers", "type", "results", "flag", "of-another-kind"],
)
async def test_a_config_that_cannot_be_read_leaves_its_registration_out(store: StoreWorld, config: Any) -> None:
    provider = a_live_provider()
    item = {name: value for name, value in item_of(provider).items() if name != "config"}
    spoilt = item if config is None else {**item, "config": config}
    await store.registry().create(a_live_provider(ProviderKind.DEEPWIKI), a_change())
    store.clients.dynamodb.put_item(TableName=store.internal_table, Item=spoilt)

    assert await store.registry().get(provider.id) is None
    assert [each.source.kind for each in await store.catalog().providers()] == [ProviderKind.DEEPWIKI]


async def test_what_an_older_row_does_not_mention_has_its_default(store: StoreWorld) -> None:
    provider = a_live_provider()
    older = {**item_of(provider), "config": {"M": {"approved_hosts": {"L": [{"S": "docs.example.com"}]}}}}
    store.clients.dynamodb.put_item(TableName=store.internal_table, Item=older)
    read = await store.registry().get(provider.id)

    assert read is not None
    assert read.source.config == EXA


async def test_a_live_row_that_calls_itself_customer_safe_is_in_no_lane(store: StoreWorld) -> None:
    provider = a_live_provider()
    stray = item_of(provider) | {
        "exposure_profile": {"S": "customer_safe"},
        "sk": {"S": new_provider_id(ExposureProfile.CUSTOMER_SAFE)},
    }
    for table in (store.public_table, store.internal_table):
        store.clients.dynamodb.put_item(TableName=table, Item=stray)
    await store.registry().create(a_live_provider(), a_change())

    assert len(await store.catalog().providers()) == 1
    assert await store.customer_catalog().sources() == ()
