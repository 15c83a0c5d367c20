"""What is made of several looks at one provider."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.deadlines import Deadline
from shared.domain.health import DOWN_AFTER, Finding, HealthState, Look, ProviderHealth, after_look
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Warning_
from tests.support.builders import NOW, a_provider
from tests.support.health_fakes import ScriptedCheck

WELL = Finding(look=Look.CAPABILITIES)
FAILS = Finding(look=Look.CAPABILITIES, code=OutcomeCode.TIMEOUT)
EVERY_S = 300.0
# Written down for each code that a look can come back with: a new one has to be considered here.
STATES = {
    **dict.fromkeys(OutcomeCode, HealthState.FAILING),
    OutcomeCode.RATE_LIMITED: HealthState.LIMITED,
    OutcomeCode.KEYS_EXHAUSTED: HealthState.LIMITED,
    OutcomeCode.ALLOWANCE_EXHAUSTED: HealthState.LIMITED,
    OutcomeCode.UNAUTHORIZED: HealthState.REFUSED,
    OutcomeCode.FORBIDDEN: HealthState.REFUSED,
    OutcomeCode.NOT_FOUND: HealthState.BROKEN,
    OutcomeCode.INVALID_RESPONSE: HealthState.BROKEN,
    OutcomeCode.UNSUPPORTED_VERSION: HealthState.BROKEN,
    OutcomeCode.RESPONSE_TOO_LARGE: HealthState.BROKEN,
    OutcomeCode.CAPABILITY_UNAVAILABLE: HealthState.BROKEN,
    OutcomeCode.NOT_CONFIGURED: HealthState.NOT_CONFIGURED,
}
FINDINGS = st.builds(
    Finding,
    look=st.sampled_from(list(Look)),
    code=st.none() | st.sampled_from(list(OutcomeCode)),
    retry_at=st.none() | st.just(NOW + 9_000),
    duration_ms=st.integers(0, 4_000),
    warnings=st.sampled_from([(), (Warning_.SURPLUS_CUT,)]),
)


def looked(*findings: Finding, revision: str = "1", before: ProviderHealth | None = None) -> list[ProviderHealth]:
    """After each of the looks, five minutes apart."""
    healths = []
    for number, finding in enumerate(findings):
        before = after_look(before, finding, provider_id="cs_a", revision=revision, now=NOW + number * EVERY_S)
        healths.append(before)
    return healths


def test_a_provider_is_down_once_however_it_comes_and_goes() -> None:
    healths = looked(WELL, FAILS, WELL, FAILS, FAILS, FAILS, WELL, WELL)
    assert [health.state for health in healths] == [
        HealthState.HEALTHY,
        HealthState.FAILING,
        HealthState.HEALTHY,
        HealthState.FAILING,
        HealthState.FAILING,
        HealthState.DOWN,
        HealthState.HEALTHY,
        HealthState.HEALTHY,
    ]
    assert sum(later.state is HealthState.DOWN is not earlier.state for earlier, later in pairwise(healths)) == 1


def test_what_lasts_is_not_written_again() -> None:
    well = looked(WELL, WELL, WELL)
    assert well[0] == well[1] == well[2]
    down = looked(*[FAILS] * (DOWN_AFTER + 3))
    assert down[DOWN_AFTER - 1] == down[DOWN_AFTER] == down[-1]
    assert [health.failures for health in down[:4]] == [1, 2, 3, 3]


@given(st.lists(FINDINGS, min_size=1, max_size=8))
def test_the_same_again_changes_nothing_once_it_is_down_or_passes_for_no_failure(findings: list[Finding]) -> None:
    [*_, last] = looked(*findings, *[findings[-1]] * DOWN_AFTER)
    again = after_look(last, findings[-1], provider_id="cs_a", revision="1", now=NOW + 1e6)
    assert again == replace(last, last_well_at=again.last_well_at)
    assert again.last_well_at == last.last_well_at


@given(st.lists(FINDINGS, min_size=1, max_size=8))
def test_since_is_when_it_came_into_its_state(findings: list[Finding]) -> None:
    healths = looked(*findings)
    began = NOW
    for number, health in enumerate(healths):
        if number and health.state is not healths[number - 1].state:
            began = NOW + number * EVERY_S
        assert health.since == began


def test_since_when_and_until_when_it_was_well() -> None:
    first, still, fails, fails_on = looked(WELL, WELL, FAILS, FAILS)
    assert first.last_well_at == still.last_well_at == NOW
    assert fails.last_well_at == fails_on.last_well_at == NOW + 2 * EVERY_S


@pytest.mark.parametrize("code", list(OutcomeCode))
def test_every_code_has_its_state(code: OutcomeCode) -> None:
    [health] = looked(replace(WELL, code=code))
    assert (health.state, health.code) == (STATES[code], code)
    assert health.failures == (STATES[code] is HealthState.FAILING)


def test_who_says_when_to_come_back_is_not_failing() -> None:
    [health] = looked(replace(FAILS, code=OutcomeCode.UPSTREAM_ERROR, retry_at=NOW + 60))
    assert (health.state, health.retry_at, health.failures) == (HealthState.LIMITED, NOW + 60, 0)


def test_where_nothing_can_be_looked_at_nothing_is_known() -> None:
    [health] = looked(Finding(look=Look.NOTHING))
    assert (health.state, health.last_well_at) == (HealthState.UNCHECKED, None)


def test_a_failure_of_another_kind_starts_the_count_anew() -> None:
    refused = replace(WELL, code=OutcomeCode.UNAUTHORIZED)
    *_, last = looked(FAILS, FAILS, refused, FAILS)
    assert (last.state, last.failures) == (HealthState.FAILING, 1)


def test_what_was_found_of_another_revision_is_forgotten_but_for_when_it_was_well() -> None:
    [*_, before] = looked(WELL, FAILS, FAILS, FAILS)
    [health] = looked(FAILS, revision="2", before=before)
    assert (health.state, health.failures, health.revision) == (HealthState.FAILING, 1, "2")
    assert health.last_well_at == before.last_well_at == NOW + EVERY_S


async def test_a_scripted_look_is_what_is_known_of_its_provider() -> None:
    provider = a_provider()
    check = ScriptedCheck({provider.id: FAILS})
    deadline = Deadline.after(4, now_s=0)
    assert await check(provider, deadline=deadline) == FAILS
    assert await check(a_provider(), deadline=deadline) == WELL
    assert check.asked[0] == provider.id
