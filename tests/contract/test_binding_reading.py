"""Reading bindings fails closed, and costs one reading more than other registrations, only when they change."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from shared.adapters import instance_items, provider_items, unreadable
from shared.adapters.catalog import DynamoCatalog
from shared.adapters.credential_keys import DynamoCredentialKeys
from shared.adapters.customer_catalog import DynamoCustomerCatalog
from shared.adapters.row_reads import RowReads
from shared.domain.exposure import ExposureProfile
from shared.domain.instances import Instance
from shared.domain.registrations import LIVE_KINDS, Provider, ProviderStatus
from shared.errors import Unavailable
from tests.contract.far_ahead import a_change
from tests.contract.stubs import Meddling
from tests.contract.worlds import StoreWorld
from tests.support.builders import a_binding, a_provider, an_external_provider, an_instance, an_internal_provider

pytestmark = pytest.mark.emulator

SAFE = ExposureProfile.CUSTOMER_SAFE
REMOVED = "(removed)"


async def _kept(store: StoreWorld, **over: Any) -> tuple[Instance, Provider]:
    instance = an_instance(exposure_profile=SAFE, **over)
    await store.instances().create(instance, a_change(), credential_key=f"key of {instance.id}")
    binding = a_binding(instance)
    await store.registry().create(binding, a_change())
    return instance, binding


def _spoil(store: StoreWorld, table: str, partition: str, sort: str, **over: Any) -> None:
    """Changes a row behind everybody's back."""
    client = store.clients.dynamodb
    item = client.get_item(TableName=table, Key={"pk": {"S": partition}, "sk": {"S": sort}})["Item"] | over
    client.put_item(TableName=table, Item={name: value for name, value in item.items() if value is not REMOVED})


async def _is_nowhere(store: StoreWorld, binding: Provider, *, but: Provider) -> None:
    assert await store.catalog().providers() == (but,)
    assert [one.source for one in await store.customer_catalog().sources()] == [but.source]
    assert await store.registry().get(binding.id) is None
    assert (await store.registry().page(limit=10, after=None)).items == (but,)


@pytest.mark.parametrize(
    "over",
    [
        {"exposure_profile": {"S": "agent_only"}},
        {"reaches_public_only": {"BOOL": False}},
        {"reaches_public_only": REMOVED},
        {"kind": {"S": "ragflow"}},
        {"base_url": REMOVED},
        {"acknowledged": {"L": [{"S": "whatever"}]}},
        {"credential": {"M": {}}},
    ],
    ids=str,
)
async def test_a_binding_whose_instance_cannot_be_trusted_is_in_no_lane(
    store: StoreWorld, over: dict[str, Any]
) -> None:
    good = a_provider()
    await store.registry().create(good, a_change())
    instance, binding = await _kept(store)
    _spoil(store, store.public_table, "INSTANCE", instance.id, **over)
    await _is_nowhere(store, binding, but=good)


async def test_a_binding_whose_instance_is_missing_is_in_no_lane(store: StoreWorld) -> None:
    good = a_provider()
    await store.registry().create(good, a_change())
    instance, binding = await _kept(store)
    key = {"pk": {"S": "INSTANCE"}, "sk": {"S": instance.id}}
    store.clients.dynamodb.delete_item(TableName=store.public_table, Key=key)
    await _is_nowhere(store, binding, but=good)


async def test_an_instance_in_the_other_table_is_none(store: StoreWorld) -> None:
    good = a_provider()
    await store.registry().create(good, a_change())
    instance, binding = await _kept(store)
    client, key = store.clients.dynamodb, {"pk": {"S": "INSTANCE"}, "sk": {"S": instance.id}}
    client.put_item(TableName=store.internal_table, Item=instance_items.item_of(instance))
    client.delete_item(TableName=store.public_table, Key=key)
    await _is_nowhere(store, binding, but=good)


async def test_an_internal_instance_and_its_binding_in_the_public_table_are_in_no_lane(store: StoreWorld) -> None:
    """Not even where both say customer_safe of themselves: their ids say otherwise."""
    good, (instance, binding) = a_provider(), await _kept(store)
    await store.registry().delete(binding, expected_generation=1, change=a_change())
    await store.registry().create(good, a_change())
    foreign = an_instance()
    claim = {"exposure_profile": {"S": "customer_safe"}, "reaches_public_only": {"BOOL": True}}
    for over in ({}, claim):
        for item in (instance_items.item_of(foreign), provider_items.item_of(a_binding(foreign))):
            kept = {name: value for name, value in over.items() if name in item}
            store.clients.dynamodb.put_item(TableName=store.public_table, Item=item | kept)
    stray = provider_items.item_of(a_binding(instance)) | {
        "binding": provider_items.item_of(a_binding(foreign))["binding"]
    }
    store.clients.dynamodb.put_item(TableName=store.public_table, Item=stray)
    assert await store.catalog().providers() == (good,)
    assert [one.source for one in await store.customer_catalog().sources()] == [good.source]


@pytest.mark.parametrize("kind", sorted(LIVE_KINDS))
async def test_a_live_service_is_never_on_the_customer_lane(store: StoreWorld, kind: str) -> None:
    good = a_provider()
    await store.registry().create(good, a_change())
    stray = provider_items.item_of(a_provider()) | {"kind": {"S": kind}, "config": {"M": {}}}
    store.clients.dynamodb.put_item(TableName=store.public_table, Item=stray)
    assert [one.source for one in await store.customer_catalog().sources()] == [good.source]


async def test_what_is_left_out_is_noted_by_its_key_alone(store: StoreWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    instance, binding = await _kept(store)
    _spoil(store, store.public_table, "INSTANCE", instance.id, kind={"S": "telepathy"})
    noted: list[dict[str, Any]] = []
    monkeypatch.setattr(unreadable._logger, "error", lambda _event, **fields: noted.append(fields))
    await store.customer_catalog().sources()
    assert noted == [{"row": f"INSTANCE/{instance.id}"}, {"row": f"PROVIDER/{binding.id}"}]


async def test_a_disabled_binding_is_on_no_customer_path(store: StoreWorld) -> None:
    _, binding = await _kept(store)
    disabled = replace(binding.with_source(generation=2), status=ProviderStatus.DISABLED)
    await store.registry().replace(disabled, expected_generation=1, change=a_change())
    assert await store.customer_catalog().sources() == ()
    assert await store.catalog().providers() == (disabled,)


# --- what it costs ---
def _catalog(store: StoreWorld, client: Any) -> DynamoCatalog:
    return DynamoCatalog(
        client, reads=RowReads(client), public_table=store.public_table, internal_table=store.internal_table
    )


async def test_instances_are_read_once_and_only_where_something_is_bound(store: StoreWorld) -> None:
    client = Meddling(store.clients.dynamodb, "query", lambda: None)
    catalog = _catalog(store, client)
    await store.registry().create(an_internal_provider(), a_change())
    await store.registry().create(an_external_provider(), a_change(), credential_key="one")
    await catalog.providers()
    assert client.calls.count("query") == 1, "no binding, no instance"
    for _ in range(3):
        await _kept(store)
    client.calls.clear()
    assert len(await catalog.providers()) == 5
    assert client.calls.count("query") == 2, "the providers of the table that changed, and all its instances"
    client.calls.clear()
    assert len(await catalog.providers()) == 5
    assert client.calls == ["batch_get_item"], "nothing has changed"


async def test_a_customers_search_reads_no_instance_of_what_is_switched_off(store: StoreWorld) -> None:
    client = Meddling(store.clients.dynamodb, "query", lambda: None)
    catalog = DynamoCustomerCatalog(client, reads=RowReads(client), table=store.public_table)
    _, binding = await _kept(store)
    disabled = replace(binding.with_source(generation=2), status=ProviderStatus.DISABLED)
    await store.registry().replace(disabled, expected_generation=1, change=a_change())
    await catalog.sources()
    assert client.calls.count("query") == 1


async def test_an_instance_that_changes_during_the_reading_is_read_as_it_is_then(store: StoreWorld) -> None:
    instance, binding = await _kept(store)
    moved = replace(
        instance,
        base_url="https://moved.fern-desk.test/v1",
        generation=2,
        binding_ids=frozenset({binding.id}),
    )
    changes = iter([moved])

    def change_beside() -> None:
        for one in changes:
            replacing = store.instances().replace(one, expected_generation=1, change=a_change(), credential_key="moved")
            asyncio.run(replacing)

    client = Meddling(store.clients.dynamodb, "query", change_beside)
    catalog = DynamoCustomerCatalog(client, reads=RowReads(client), table=store.public_table)
    for _ in range(2):
        (source,) = await catalog.sources()
        assert source.source == moved.at(binding.source)


# --- the key of fingerprints ---
async def test_the_key_of_fingerprints_is_made_once_and_is_each_installations_own(store: StoreWorld) -> None:
    wanted = {"credential": "one"}
    keys = await asyncio.gather(*(store.credential_keys().key_of(**wanted) for _ in range(8)))
    assert len(set(keys)) == 1
    key = {"pk": {"S": "FINGERPRINT_KEY"}, "sk": {"S": "-"}}
    row = store.clients.raw.get_item(TableName=store.internal_table, Key=key)["Item"]
    assert len(row["key"]["B"]) == 32
    store.clients.dynamodb.delete_item(TableName=store.internal_table, Key=key)
    assert await store.credential_keys().key_of(**wanted) != keys[0]


@pytest.mark.parametrize("spoiled", [{"B": b"short"}, {"S": "x" * 32}], ids=["short", "text"])
async def test_a_key_that_cannot_be_read_is_not_replaced(store: StoreWorld, spoiled: dict[str, Any]) -> None:
    keys = DynamoCredentialKeys(store.clients.dynamodb, table=store.internal_table)
    row = {"pk": {"S": "FINGERPRINT_KEY"}, "sk": {"S": "-"}, "key": spoiled}
    store.clients.dynamodb.put_item(TableName=store.internal_table, Item=row)
    with pytest.raises(Unavailable):
        await keys.key_of(credential="one")
