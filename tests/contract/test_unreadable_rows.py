"""Registrations that cannot be read any more: no change passes them by, and they can be removed by their ids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from shared.domain.circuits import Lane
from shared.domain.credentials import Principal
from shared.domain.exposure import CredentialClass, ExposureProfile
from shared.domain.instances import Instance
from shared.domain.registrations import Provider, ProviderStatus
from shared.errors import Conflict, NotFound, PreconditionFailed
from shared.observability import logger_for
from shared.services.change_instance import ChangeInstance
from shared.services.change_provider import ChangeProvider
from shared.services.delete_instance import DeleteInstance
from shared.services.put_back import PutBack
from shared.services.remove_provider import RemoveProvider
from tests.contract.far_ahead import a_change
from tests.contract.worlds import StoreWorld
from tests.support.builders import a_binding, a_provider, an_external_provider, an_instance
from tests.support.health_fakes import FakeCircuitStore, FakeJournal

pytestmark = pytest.mark.emulator

SAFE = ExposureProfile.CUSTOMER_SAFE
REMOVED = "(removed)"
BY = Principal(credential_id="a" * 16, credential_class=CredentialClass.ADMIN)
SPOILED_BINDINGS: list[dict[str, Any]] = [
    {"priority": REMOVED},
    {"generation": REMOVED},
    {"generation": {"S": "two"}},
    {"binding": REMOVED},
    {"name": {"N": "1"}},
    {"created_at": {"S": "once"}},
]
SPOILED_INSTANCES: list[dict[str, Any]] = [
    {"base_url": REMOVED},
    {"generation": REMOVED},
    {"name": REMOVED},
]


def _spoil(store: StoreWorld, partition: str, sort: str, **over: Any) -> Callable[[], None]:
    """Changes a row behind everybody's back; the answer puts it back what was changed."""
    client, table = store.clients.dynamodb, store.public_table
    key = {"pk": {"S": partition}, "sk": {"S": sort}}
    whole = client.get_item(TableName=table, Key=key)["Item"]
    spoiled = {name: value for name, value in {**whole, **over}.items() if value is not REMOVED}
    client.put_item(TableName=table, Item=spoiled)

    def mend() -> None:
        now = client.get_item(TableName=table, Key=key)["Item"]
        client.put_item(TableName=table, Item=now | {name: whole[name] for name in over})

    return mend


async def _kept(store: StoreWorld, **over: Any) -> tuple[Instance, Provider]:
    instance = an_instance(exposure_profile=SAFE, name="Server", **over)
    await store.instances().create(instance, a_change(), credential_key="the key")
    binding = a_binding(instance, name="Handbook", remote_id="handbook")
    await store.registry().create(binding, a_change())
    return instance, binding


def _remove_provider(store: StoreWorld) -> RemoveProvider:
    registry = store.registry()
    put_back = PutBack(
        circuits={lane: FakeCircuitStore() for lane in Lane},
        journals={lane: FakeJournal(store.clock) for lane in Lane},
        clock=store.clock,
        logger=logger_for("test"),
    )
    change = ChangeProvider(registry=registry, put_back=put_back, clock=store.clock)
    return RemoveProvider(registry=registry, change=change)


def _delete_instance(store: StoreWorld) -> DeleteInstance:
    instances = store.instances()
    return DeleteInstance(instances=instances, change=ChangeInstance(instances=instances, clock=store.clock))


def _rows(store: StoreWorld) -> set[tuple[str, str]]:
    """All but what is kept for good."""
    found = store.clients.raw.scan(TableName=store.public_table, ConsistentRead=True)["Items"]
    return {(item["pk"]["S"], item["sk"]["S"]) for item in found} - {("GENERATION", "-")}


def _uses(store: StoreWorld) -> int:
    items = store.clients.raw.scan(TableName=store.internal_table, ConsistentRead=True)["Items"]
    return sum(item["pk"]["S"] == "INSTANCE_CREDENTIAL" for item in items)


@pytest.mark.parametrize("over", SPOILED_BINDINGS, ids=str)
async def test_a_binding_that_cannot_be_read_is_switched_off_when_its_instance_moves(
    store: StoreWorld, over: dict[str, Any]
) -> None:
    instance, binding = await _kept(store)
    mend = _spoil(store, "PROVIDER", binding.id, **over)
    read = await store.instances().get(instance.id)
    moved = replace(read, base_url="https://new.fern-desk.test/v1", generation=2)
    await store.instances().replace(
        moved, expected_generation=1, change=a_change(), credential_key=None, disable=read.binding_ids
    )
    mend()
    mended = await store.registry().get(binding.id)
    assert (mended.status, mended.needs_test) == (ProviderStatus.DISABLED, True)
    assert await store.customer_catalog().sources() == ()


@pytest.mark.parametrize("over", SPOILED_BINDINGS, ids=str)
async def test_a_binding_that_cannot_be_read_is_removed_by_its_id_and_leaves_nothing_behind(
    store: StoreWorld, over: dict[str, Any]
) -> None:
    instance, binding = await _kept(store)
    _spoil(store, "PROVIDER", binding.id, **over)
    await _remove_provider(store)(binding.id, expected_generation=7, by=BY)

    assert _rows(store) == {("INSTANCE", instance.id), ("INSTANCE_NAME", "server")}
    again = a_binding(instance, name="Handbook", remote_id="handbook")
    await store.registry().create(again, a_change())
    assert (await store.instances().get(instance.id)).binding_ids == {again.id}


async def test_a_binding_whose_instance_is_gone_is_removed_too(store: StoreWorld) -> None:
    instance, binding = await _kept(store)
    key = {"pk": {"S": "INSTANCE"}, "sk": {"S": instance.id}}
    store.clients.dynamodb.delete_item(TableName=store.public_table, Key=key)
    await _remove_provider(store)(binding.id, expected_generation=1, by=BY)
    assert _rows(store) == {("INSTANCE_NAME", "server")}


async def test_a_provider_of_any_kind_that_cannot_be_read_is_removed_by_its_id(store: StoreWorld) -> None:
    plain, external = a_provider(exposure_profile=SAFE), an_external_provider(exposure_profile=SAFE)
    await store.registry().create(plain, a_change())
    await store.registry().create(external, a_change(), credential_key="another key")
    for each in (plain, external):
        _spoil(store, "PROVIDER", each.id, kind={"S": "telepathy"})
        await _remove_provider(store)(each.id, expected_generation=1, by=BY)
    assert (_rows(store), _uses(store)) == (set(), 0)


@pytest.mark.parametrize("over", SPOILED_BINDINGS, ids=str)
async def test_an_instance_goes_with_a_binding_that_cannot_be_read(store: StoreWorld, over: dict[str, Any]) -> None:
    instance, binding = await _kept(store)
    _spoil(store, "PROVIDER", binding.id, **over)
    delete = _delete_instance(store)
    with pytest.raises(Conflict) as refusal:
        await delete(instance.id, with_bindings=frozenset(), expected_generation=1, by=BY)
    assert refusal.value.facts == {"bindings": [binding.id]}
    await delete(instance.id, with_bindings=frozenset({binding.id}), expected_generation=1, by=BY)
    assert (_rows(store), _uses(store)) == (set(), 0)


@pytest.mark.parametrize("over", SPOILED_INSTANCES, ids=str)
async def test_an_instance_that_cannot_be_read_is_deleted_by_its_id_with_exactly_its_bindings(
    store: StoreWorld, over: dict[str, Any]
) -> None:
    instance, binding = await _kept(store)
    _spoil(store, "INSTANCE", instance.id, **over)
    delete = _delete_instance(store)
    with pytest.raises(Conflict) as refusal:
        await delete(instance.id, with_bindings=frozenset(), expected_generation=1, by=BY)
    assert refusal.value.facts == {"bindings": [binding.id]}
    await delete(instance.id, with_bindings=frozenset({binding.id}), expected_generation=7, by=BY)
    assert (_rows(store), _uses(store)) == (set(), 0)


async def test_a_config_of_another_version_stays_as_it_is_stored_until_it_is_tested_anew(store: StoreWorld) -> None:
    _instance, binding = await _kept(store)
    key = {"pk": {"S": "PROVIDER"}, "sk": {"S": binding.id}}
    row = store.clients.dynamodb.get_item(TableName=store.public_table, Key=key)["Item"]
    config = row["binding"]["M"] | {"config_version": {"N": "2"}, "product": {"S": "said in another way"}}
    _spoil(store, "PROVIDER", binding.id, binding={"M": config})
    read = await store.registry().get(binding.id)
    assert (await store.customer_catalog().sources())[0].source == read.source
    renamed = read.with_source(name="Renamed", generation=2)
    await store.registry().replace(renamed, expected_generation=1, change=a_change())

    row = store.clients.dynamodb.get_item(TableName=store.public_table, Key=key)["Item"]
    assert (row["name"], row["binding"]["M"]) == ({"S": "Renamed"}, config)
    tested = renamed.with_source(config=binding.source.config, generation=3)
    await store.registry().replace(tested, expected_generation=2, change=a_change())
    assert await store.registry().get(binding.id) == tested


async def test_what_can_be_read_is_deleted_with_its_version_alone(store: StoreWorld) -> None:
    instance, binding = await _kept(store)
    with pytest.raises(PreconditionFailed):
        await store.registry().delete_unreadable(binding.id, change=a_change())
    with pytest.raises(PreconditionFailed):
        await store.instances().delete_unreadable(instance.id, change=a_change(), bindings=frozenset({binding.id}))
    assert await store.registry().get(binding.id) == binding


async def test_what_is_not_there_is_not_found(store: StoreWorld) -> None:
    instance, binding = an_instance(), a_provider()
    for ids in ((binding.id, instance.id), ("nonsense", "nonsense")):
        with pytest.raises(NotFound):
            await _remove_provider(store)(ids[0], expected_generation=1, by=BY)
        with pytest.raises(NotFound):
            await _delete_instance(store)(ids[1], with_bindings=frozenset(), expected_generation=1, by=BY)
