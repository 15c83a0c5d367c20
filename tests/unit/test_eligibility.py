from __future__ import annotations

from dataclasses import replace

import pytest

from shared.domain.eligibility import choose
from shared.domain.outcomes import OutcomeCode, OutcomeStatus
from shared.domain.registrations import ProviderStatus
from tests.support.builders import a_provider, an_internal_provider

ACTIVE, INTERNAL = a_provider(created_at=1.0), an_internal_provider(created_at=2.0)
DISABLED = a_provider(created_at=3.0, status=ProviderStatus.DISABLED)
AUTO_DISABLED = a_provider(created_at=4.0, status=ProviderStatus.AUTO_DISABLED)
ALL = (ACTIVE, INTERNAL, DISABLED, AUTO_DISABLED)


def test_without_a_filter_all_active_providers_are_asked_and_the_others_not_mentioned() -> None:
    choice = choose(ALL, named=None, allowed=None)
    assert choice.eligible == (ACTIVE, INTERNAL)
    assert choice.refused == ()


def test_a_filter_narrows() -> None:
    assert choose(ALL, named=[INTERNAL.id], allowed=None).eligible == (INTERNAL,)


def test_an_empty_filter_asks_nobody() -> None:
    choice = choose(ALL, named=[], allowed=None)
    assert (choice.eligible, choice.refused) == ((), ())


def test_a_filter_never_widens_what_the_credential_may_reach() -> None:
    choice = choose(ALL, named=[ACTIVE.id, INTERNAL.id], allowed=[ACTIVE.id])
    assert choice.eligible == (ACTIVE,)
    assert [outcome.provider_id for outcome in choice.refused] == [INTERNAL.id]


def test_an_empty_list_of_allowed_providers_allows_none() -> None:
    assert choose(ALL, named=None, allowed=[]).eligible == ()


@pytest.mark.parametrize(
    "named",
    ["ao_aaaaaaaaaaaaaaaa", "no id at all", "", "../" * 40, INTERNAL.id],
    ids=["unknown", "malformed", "empty", "a path", "forbidden"],
)
def test_an_unknown_a_malformed_and_a_forbidden_id_look_the_same(named: str) -> None:
    (outcome,) = choose(ALL, named=[named], allowed=[ACTIVE.id, DISABLED.id]).refused
    assert replace(outcome, provider_id="x") == replace(
        choose((), named=["x"], allowed=None).refused[0], provider_id="x"
    )
    assert (outcome.status, outcome.error_code, outcome.name) == (OutcomeStatus.SKIPPED, OutcomeCode.NOT_FOUND, None)


@pytest.mark.parametrize("provider", [DISABLED, AUTO_DISABLED])
def test_a_disabled_provider_that_is_named_is_skipped_and_says_so(provider: object) -> None:
    (outcome,) = choose(ALL, named=[provider.id], allowed=None).refused
    assert (outcome.status, outcome.error_code) == (OutcomeStatus.SKIPPED, OutcomeCode.DISABLED)
    assert outcome.name == provider.source.name


def test_a_disabled_provider_outside_the_credentials_list_is_not_admitted_to_exist() -> None:
    (outcome,) = choose(ALL, named=[DISABLED.id], allowed=[ACTIVE.id]).refused
    assert (outcome.error_code, outcome.name) == (OutcomeCode.NOT_FOUND, None)


def test_naming_an_id_twice_is_naming_it_once() -> None:
    choice = choose(ALL, named=[ACTIVE.id, "x", ACTIVE.id, "x"], allowed=None)
    assert choice.eligible == (ACTIVE,)
    assert len(choice.refused) == 1
