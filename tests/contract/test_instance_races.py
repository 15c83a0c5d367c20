"""Eight processes at once around one instance: nothing is bound to what is not there, and nobody shares a credential
over the exposure profiles.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from infra.local.provision import client_environment
from shared.adapters.instances import DynamoInstances
from shared.domain.exposure import ExposureProfile
from shared.domain.instances import Instance
from shared.domain.registrations import Provider, ProviderStatus
from tests.contract.invariants import check_invariants, rows_in
from tests.contract.racers import RACERS, Race
from tests.contract.stubs import Meddling
from tests.contract.worlds import StoreWorld
from tests.contract.writer import act, created
from tests.support.builders import a_binding, an_instance

pytestmark = [pytest.mark.emulator, pytest.mark.slow]
_ROUNDS = 5
SAFE, INTERNAL = ExposureProfile.CUSTOMER_SAFE, ExposureProfile.AGENT_ONLY

Act = tuple[str, str, tuple[Any, ...], dict[str, Any]]


@pytest.fixture(scope="module")
def race(emulator: str) -> Iterator[Race]:
    running = Race(client_environment(emulator))
    yield running
    running.close()


async def _kept(store: StoreWorld, *, profile: ExposureProfile = INTERNAL, key: str = "one") -> Instance:
    instance = an_instance(exposure_profile=profile)
    await store.instances().create(instance, created("instance", instance), credential_key=key)
    return instance


def _binding(instance: Instance, **over: Any) -> tuple[Provider, Act]:
    provider = a_binding(instance, **over)
    return provider, ("registry", "create", (provider, created("binding", provider, actor=instance.id)), {})


def _removal(instance: Instance) -> Act:
    kwargs = {"expected_generation": 1, "change": act("instance", "deleted", instance)}
    return ("instances", "delete", (instance,), kwargs)


def _registration(profile: ExposureProfile, *, key: str) -> Act:
    instance = an_instance(exposure_profile=profile)
    return ("instances", "create", (instance, created("instance", instance)), {"credential_key": key})


async def _removed_beside(store: StoreWorld, instance: Instance, meddle: Callable[[], None]) -> list[str]:
    """Removed, while `meddle` runs after each row that is read for it. The names of the calls to the store."""
    client = Meddling(store.clients.dynamodb, "get_item", meddle)
    instances = DynamoInstances(
        client,
        public_table=store.public_table,
        internal_table=store.internal_table,
        idempotency_table=store.internal_ledger,
        clock=store.clock,
    )
    _, method, args, kwargs = _removal(instance)
    await getattr(instances, method)(*args, **kwargs)
    return client.calls


async def test_a_binding_and_the_removal_of_its_instance_never_both_happen(
    race: Race, store: StoreWorld, aws_environment: dict[str, str]
) -> None:
    for _ in range(_ROUNDS):
        instance = await _kept(store)
        acts = [_binding(instance)[1] if racer % 2 else _removal(instance) for racer in range(RACERS)]
        outcomes = race.run(aws_environment, acts)
        bound = await store.instances().bindings(instance.id)
        is_there = await store.instances().get(instance.id) is not None
        assert is_there == bool(bound), outcomes
        assert outcomes["done"] == (len(bound) if is_there else 1), outcomes
        assert set(outcomes) <= {"done", "busy", "config_changed", "instance_in_use", "not_found"}
        check_invariants(store)


async def test_one_of_many_binds_a_knowledge_base(
    race: Race, store: StoreWorld, aws_environment: dict[str, str]
) -> None:
    instance = await _kept(store)
    for number in range(_ROUNDS):
        acts = [_binding(instance, remote_id=f"handbook {number}")[1] for _ in range(RACERS)]
        outcomes = race.run(aws_environment, acts)
        assert outcomes["done"] == 1, outcomes
        assert outcomes["done"] + outcomes["already_bound"] + outcomes["busy"] == RACERS, outcomes
        check_invariants(store)


async def test_a_credential_is_never_under_both_exposure_profiles(
    race: Race, store: StoreWorld, aws_environment: dict[str, str]
) -> None:
    for number in range(_ROUNDS):
        key = f"shared {number}"
        acts = [_registration(SAFE if racer % 2 else INTERNAL, key=key) for racer in range(RACERS)]
        outcomes = race.run(aws_environment, acts)
        [use] = [
            item for item in rows_in(store, store.internal_table).of("INSTANCE_CREDENTIAL") if item["sk"]["S"] == key
        ]
        assert 1 <= len(use["owner_ids"]["SS"]) == outcomes["done"] <= RACERS // 2, outcomes
        assert set(outcomes) <= {"done", "busy", "credential_used_elsewhere"}
        check_invariants(store)


async def test_a_credential_that_is_given_up_and_taken_at_once_belongs_to_one_exposure_profile(
    race: Race, store: StoreWorld, aws_environment: dict[str, str]
) -> None:
    """The last owners leave while others come, of either profile."""
    for number in range(_ROUNDS):
        key = f"passed on {number}"
        leaving = [await _kept(store, key=key) for _ in range(2)]
        coming = [_registration(profile, key=key) for profile in (SAFE, INTERNAL) * 3]
        outcomes = race.run(aws_environment, [*map(_removal, leaving), *coming])
        assert set(outcomes) <= {"done", "busy", "credential_used_elsewhere"}, outcomes
        check_invariants(store)


@pytest.mark.parametrize("leaving", ["the last", "one of two"])
async def test_who_takes_a_credential_up_while_others_leave_keeps_it(store: StoreWorld, leaving: str) -> None:
    """Between the reading of who has it and the writing."""
    instance = await _kept(store)
    if leaving == "one of two":
        await _kept(store)
    coming = iter([an_instance()])
    reads = itertools.count(1)

    def come() -> None:
        if next(reads) == 2:  # after the instance's own row, the row of its credential
            for one in coming:
                asyncio.run(store.instances().create(one, created("instance", one), credential_key="one"))

    calls = await _removed_beside(store, instance, come)
    check_invariants(store)
    assert calls.count("transact_write_items") == (2 if leaving == "the last" else 1)


@pytest.mark.parametrize("left", ["the last", "one of two"])
async def test_two_that_leave_at_once_leave_no_row_behind(store: StoreWorld, left: str) -> None:
    first, second = await _kept(store), await _kept(store)
    if left == "one of two":
        await _kept(store)
    reads = itertools.count(1)

    def go() -> None:
        if next(reads) == 2:
            _, method, args, kwargs = _removal(second)
            asyncio.run(getattr(store.instances(), method)(*args, **kwargs))

    await _removed_beside(store, first, go)
    check_invariants(store)
    uses = rows_in(store, store.internal_table).of("INSTANCE_CREDENTIAL")
    assert len(uses) == (0 if left == "the last" else 1)


async def test_no_binding_is_missed_by_a_change_that_switches_all_of_them_off(
    race: Race, store: StoreWorld, aws_environment: dict[str, str]
) -> None:
    for number in range(_ROUNDS):
        instance = await _kept(store)
        first = a_binding(instance)
        await store.registry().create(first, created("binding", first, actor=instance.id))
        read = await store.instances().get(instance.id)
        moved = replace(read, base_url=f"https://moved{number}.fern-desk.test/v1", generation=2)
        kwargs = {"expected_generation": 1, "credential_key": None, "disable": frozenset({first.id})}
        acts = [
            _binding(instance)[1]
            if racer % 2
            else ("instances", "replace", (moved,), {**kwargs, "change": act("instance", "updated", moved)})
            for racer in range(RACERS)
        ]
        outcomes = race.run(aws_environment, acts)
        after = await store.instances().get(instance.id)
        bound = await store.instances().bindings(instance.id)
        if after == replace(moved, binding_ids=after.binding_ids):
            assert {provider.status for provider in bound} == {ProviderStatus.DISABLED}, outcomes
        else:
            assert len(bound) == 1 + outcomes["done"], outcomes
        check_invariants(store)


async def test_an_instance_takes_no_binding_too_many(
    race: Race, store: StoreWorld, aws_environment: dict[str, str]
) -> None:
    instance = await _kept(store)
    outcomes: Counter[str] = Counter()
    for _ in range(6):
        outcomes += race.run(aws_environment, [_binding(instance)[1] for _ in range(RACERS)])
    bound = await store.instances().bindings(instance.id)
    assert len(bound) == outcomes["done"] <= 30
    assert outcomes["binding_limit_reached"] == 0 or outcomes["done"] == 30, outcomes
    check_invariants(store)
