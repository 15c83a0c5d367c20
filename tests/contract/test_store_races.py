"""Eight processes at once: exactly one wins, the others are told why, and nothing is half written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from infra.local.provision import client_environment
from shared.domain.credentials import CredentialStatus
from shared.domain.exposure import CredentialClass
from shared.domain.registrations import MAX_PROVIDERS_PER_EXPOSURE
from shared.domain.root import RootSwitch
from tests.contract.far_ahead import a_change, an_idempotency_record
from tests.contract.invariants import check_invariants
from tests.contract.racers import RACERS, Race
from tests.contract.root_switches import turn_root
from tests.contract.worlds import StoreWorld
from tests.contract.writer import act, created
from tests.support.builders import a_credential, a_provider, an_internal_provider

pytestmark = [pytest.mark.emulator, pytest.mark.slow]
_ROUNDS = 5


@pytest.fixture(scope="module")
def race(emulator: str) -> Iterator[Race]:
    running = Race(client_environment(emulator))
    yield running
    running.close()


def _one_won(outcomes: Counter[str], refusal: str) -> None:
    assert outcomes["done"] == 1, outcomes
    assert outcomes["done"] + outcomes[refusal] + outcomes["busy"] == RACERS, outcomes


def test_one_of_many_gets_the_name(race: Race, store: StoreWorld, aws_environment: dict[str, str]) -> None:
    for number in range(_ROUNDS):
        providers = [an_internal_provider(name=f"Ferries {number}") for _ in range(RACERS)]
        acts = [("registry", "create", (one, created("provider", one)), {}) for one in providers]
        _one_won(race.run(aws_environment, acts), "name_taken")
    assert check_invariants(store) == _ROUNDS


async def test_one_of_many_changes_a_generation(race: Race, store: StoreWorld, aws_environment: dict[str, str]) -> None:
    provider = a_provider(name="Ferries")
    await store.registry().create(provider, created("provider", provider))
    for generation in range(1, _ROUNDS + 1):
        wishes = [
            provider.with_source(name=f"Ferries {generation} {racer}", generation=generation + 1)
            for racer in range(RACERS)
        ]
        acts = [
            (
                "registry",
                "replace",
                (wish,),
                {"expected_generation": generation, "change": act("provider", "updated", wish)},
            )
            for wish in wishes
        ]
        _one_won(race.run(aws_environment, acts), "precondition_failed")
        check_invariants(store)


async def test_a_change_and_a_deletion_of_one_generation_never_both_happen(
    race: Race, store: StoreWorld, aws_environment: dict[str, str]
) -> None:
    for _ in range(_ROUNDS):
        provider = a_provider()
        await store.registry().create(provider, created("provider", provider))
        changed = provider.with_source(generation=2, name=provider.source.name + "!")
        replacing = ("replace", (changed,), act("provider", "updated", provider))
        deleting = ("delete", (provider,), act("provider", "deleted", provider))
        acts = [
            ("registry", method, args, {"expected_generation": 1, "change": replace(change, audit=_again(change))})
            for method, args, change in [replacing, deleting] * (RACERS // 2)
        ]
        outcomes = race.run(aws_environment, acts)
        assert outcomes["done"] == 1, outcomes
        check_invariants(store)


def test_one_of_many_uses_an_idempotency_key(race: Race, store: StoreWorld, aws_environment: dict[str, str]) -> None:
    for _ in range(_ROUNDS):
        providers = [a_provider() for _ in range(RACERS)]
        record = an_idempotency_record()
        acts = [
            (
                "registry",
                "create",
                (
                    one,
                    a_change(
                        action="created",
                        resource=f"provider/{one.id}",
                        idempotency=replace(record, resource_id=one.id),
                    ),
                ),
                {},
            )
            for one in providers
        ]
        _one_won(race.run(aws_environment, acts), "idempotency_key_used")
    assert check_invariants(store) == _ROUNDS


async def test_one_of_many_takes_the_last_place(race: Race, store: StoreWorld, aws_environment: dict[str, str]) -> None:
    for _ in range(MAX_PROVIDERS_PER_EXPOSURE - 1):
        provider = a_provider()
        await store.registry().create(provider, created("provider", provider))
    late = [a_provider() for _ in range(RACERS)]
    acts = [("registry", "create", (one, created("provider", one)), {}) for one in late]
    _one_won(race.run(aws_environment, acts), "provider_limit_reached")
    assert check_invariants(store) == MAX_PROVIDERS_PER_EXPOSURE


async def test_two_edits_of_origins_leave_the_rows_of_one(
    race: Race, store: StoreWorld, aws_environment: dict[str, str]
) -> None:
    widget = a_credential(credential_class=CredentialClass.PUBLIC, origins=("https://a.test", "https://b.test"))
    await store.credential_store().create(widget, created("credential", widget))
    for generation in range(1, _ROUNDS + 1):
        wishes = [
            replace(widget, origins=(f"https://{racer}.test", "https://b.test"), generation=generation + 1)
            for racer in range(RACERS)
        ]
        acts = [
            (
                "credential_store",
                "replace",
                (wish,),
                {"expected_generation": generation, "change": act("credential", "updated", wish)},
            )
            for wish in wishes
        ]
        _one_won(race.run(aws_environment, acts), "precondition_failed")
        check_invariants(store)


async def test_admins_never_remove_one_another_to_the_last(
    race: Race, store: StoreWorld, aws_environment: dict[str, str]
) -> None:
    for _ in range(_ROUNDS):
        credentials = store.credential_store()
        await turn_root(credentials, on=True)
        admins = [a_credential(credential_class=CredentialClass.ADMIN) for _ in range(RACERS)]
        for admin in admins:
            await credentials.create(admin, a_change())
        await turn_root(credentials, on=False)
        acts = [
            ("credential_store", "delete", (admin,), {"expected_generation": 1, "change": a_change()})
            for admin in admins
        ]
        race.run(aws_environment, acts)
        left = (await credentials.page(limit=20, after=None)).items
        assert any(one.is_lasting_admin for one in left)
        for one in left[1:]:
            await credentials.delete(one, expected_generation=1, change=a_change())
        await turn_root(credentials, on=True)
        await credentials.delete(left[0], expected_generation=1, change=a_change())


async def test_root_is_not_switched_off_while_the_last_admin_leaves(
    race: Race, store: StoreWorld, aws_environment: dict[str, str]
) -> None:
    for _ in range(_ROUNDS):
        credentials = store.credential_store()
        admin = a_credential(credential_class=CredentialClass.ADMIN)
        await credentials.create(admin, a_change())
        disabled = replace(admin, status=CredentialStatus.DISABLED, generation=2)
        generation = (await credentials.root_switch()).generation
        off = RootSwitch(is_on=False, generation=generation + 1)
        switching = ("switch_root", (off,), {"expected_generation": generation})
        disabling = ("replace", (disabled,), {"expected_generation": 1})
        acts = [
            ("credential_store", method, args, {**kwargs, "change": a_change()})
            for method, args, kwargs in [switching, disabling] * (RACERS // 2)
        ]
        race.run(aws_environment, acts)
        admin = await credentials.get(admin.id)
        assert admin.is_lasting_admin or (await credentials.root_switch()).is_on
        await turn_root(credentials, on=True)
        await credentials.delete(admin, expected_generation=admin.generation, change=a_change())


async def test_one_of_many_switches_root(race: Race, store: StoreWorld, aws_environment: dict[str, str]) -> None:
    credentials = store.credential_store()
    await credentials.create(a_credential(credential_class=CredentialClass.ADMIN), a_change())
    for generation in range(1, _ROUNDS + 1):
        switch = RootSwitch(is_on=generation % 2 == 0, generation=generation + 1)
        acts = [
            ("credential_store", "switch_root", (switch,), {"expected_generation": generation, "change": a_change()})
            for _ in range(RACERS)
        ]
        _one_won(race.run(aws_environment, acts), "precondition_failed")
        assert await credentials.root_switch() == switch
        assert len((await store.audit_log().page(limit=50, after=None)).items) == 1 + generation


async def test_every_request_is_counted_once(race: Race, store: StoreWorld, aws_environment: dict[str, str]) -> None:
    for _ in range(_ROUNDS):
        outcomes = race.run(aws_environment, [("rate_limits", "count", ("everybody",), {})] * RACERS)
        assert outcomes == {"done": RACERS}
    assert await store.rate_limits().count("everybody") == _ROUNDS * RACERS + 1


def _again(change: object) -> object:
    """The same line of the audit, written by another."""
    return a_change(action=change.audit.action, resource=change.audit.resource).audit
