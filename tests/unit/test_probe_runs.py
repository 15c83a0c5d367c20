"""One run of the probe after the other: what is looked at, what is kept of it, and what is said about it."""

from __future__ import annotations

import asyncio

import pytest

from shared.domain.circuits import Lane
from shared.domain.deadlines import Deadline
from shared.domain.health import Finding, HealthState, Look
from shared.domain.journal import Happening
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Warning_
from shared.domain.registrations import ProviderKind, ProviderStatus
from shared.errors import Unavailable
from shared.observability import HEALTH_CHANGED, PROBE_FAULT, PROBE_FINISHED
from tests.support.builders import a_provider, an_internal_provider
from tests.support.probe_stage import EVERY_S, ProbeStage, a_circuit

OK = None
FAILED = OutcomeCode.TIMEOUT


def test_a_provider_that_is_well_is_written_once_and_then_left_as_it_is() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])

    assert stage.run().states == {HealthState.HEALTHY: 1}
    writes = stage.book.writes
    for _ in range(20):
        stage.run()

    assert (writes, stage.book.writes) == (1, 1)
    assert len(stage.check.asked) == 21
    assert stage.journal.entries == []
    assert [store.writes for store in stage.circuits.values()] == [0, 0]


def test_one_failure_makes_nobody_down_and_a_row_of_three_does_until_one_look_is_well() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])

    found = stage.states(provider, [OK, FAILED, OK, FAILED, FAILED, FAILED, FAILED, OK, OK])

    well, failing, down = HealthState.HEALTHY, HealthState.FAILING, HealthState.DOWN
    assert found == [well, failing, well, failing, failing, down, down, well, well]


def test_a_row_of_failures_alarms_once_and_recovery_is_told() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])

    stage.states(provider, [OK, FAILED, OK, *[FAILED] * 6, OK, OK])

    said = stage.said(HEALTH_CHANGED)
    assert [fields["state"] for level, fields in said if level == "warning"] == [HealthState.DOWN]
    assert [fields["state"] for _, fields in said] == ["failing", "healthy", "failing", "down", "healthy"]
    assert said[3][1] == {"provider": provider.id, "state": "down", "before": "failing", "code": FAILED}


def test_each_change_is_in_the_journal_with_its_time_and_its_reason() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])

    stage.states(provider, [OK, OutcomeCode.UNAUTHORIZED, OutcomeCode.UNAUTHORIZED, OK])

    assert [(each.happening, each.state, each.code, each.lane) for each in stage.journal.entries] == [
        (Happening.STATE_CHANGED, "refused", OutcomeCode.UNAUTHORIZED, None),
        (Happening.STATE_CHANGED, "healthy", None, None),
    ]
    assert stage.journal.entries[0].at == stage.clock.now() - 2 * 300


@pytest.mark.parametrize(
    ("code", "state"),
    [
        (OutcomeCode.UNAUTHORIZED, HealthState.REFUSED),
        (OutcomeCode.FORBIDDEN, HealthState.REFUSED),
        (OutcomeCode.INVALID_RESPONSE, HealthState.BROKEN),
        (OutcomeCode.CAPABILITY_UNAVAILABLE, HealthState.BROKEN),
        (OutcomeCode.RATE_LIMITED, HealthState.LIMITED),
        (OutcomeCode.NOT_CONFIGURED, HealthState.NOT_CONFIGURED),
    ],
)
def test_what_does_not_pass_by_itself_shows_within_one_run_and_alarms_at_once(
    code: OutcomeCode, state: HealthState
) -> None:
    providers = [a_provider() for _ in range(3)]
    stage = ProbeStage(providers)
    stage.run()
    for provider in providers:
        stage.finds(provider, code)

    assert stage.run().states == {state: 3}
    assert len(stage.said(HEALTH_CHANGED)) == 3
    stage.run()
    assert len(stage.said(HEALTH_CHANGED)) == 3


def test_being_limited_is_never_being_down() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])

    found = stage.states(provider, [OutcomeCode.RATE_LIMITED] * 5)

    assert set(found) == {HealthState.LIMITED}


def test_registrations_that_are_switched_off_are_not_looked_at() -> None:
    used, off = a_provider(), a_provider(status=ProviderStatus.DISABLED)
    stage = ProbeStage([used, off])

    probed = stage.run()

    assert stage.check.asked == [used.id]
    assert (probed.looked_at, probed.states) == (1, {HealthState.HEALTHY: 1})


def test_what_is_noticed_is_kept_and_alarms_nobody() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])
    stage.run()
    stage.finds(provider, warnings=(Warning_.CAPABILITIES_CHANGED,))
    stage.run()

    assert stage.health(provider).warnings == (Warning_.CAPABILITIES_CHANGED,)
    assert stage.said(HEALTH_CHANGED) == []
    assert stage.catalog.all == [provider]


def test_of_a_kind_that_cannot_be_looked_at_nothing_is_claimed() -> None:
    provider = an_internal_provider(kind=ProviderKind.EXA, signing=None)
    stage = ProbeStage([provider])
    stage.finds(provider)

    probed = stage.run()

    assert stage.health(provider).state is HealthState.UNCHECKED
    assert (probed.looked_at, probed.states) == (0, {HealthState.UNCHECKED: 1})


def test_the_run_says_what_it_did() -> None:
    well, down = a_provider(), a_provider()
    stage = ProbeStage([well, down])
    stage.finds(down, FAILED)

    probed = stage.run()

    ((level, fields),) = stage.said(PROBE_FINISHED)
    assert level == "info"
    assert fields == {
        "run": probed.run_id,
        "states": {"healthy": 1, "failing": 1},
        "looked_at": 2,
        "left_out": 0,
        "changed": 1,
        "faults": 0,
    }
    assert stage.book.finished is not None
    assert (stage.book.finished.looked_at, stage.book.finished.left_out) == (2, 0)


def test_a_fault_in_one_look_costs_that_one() -> None:
    well, odd = a_provider(), a_provider()
    stage = ProbeStage([well, odd])

    async def breaks(deadline: Deadline) -> Finding:
        raise ZeroDivisionError("UPSTREAM-WORDS")

    stage.run()
    stage.check.findings[odd.id] = breaks
    probed = stage.run()

    ((level, fields),) = stage.said(PROBE_FAULT)
    assert (level, fields["provider"]) == ("error", odd.id)
    assert fields["fault"].startswith("ZeroDivisionError at test_probe_runs.py:")
    assert "UPSTREAM-WORDS" not in repr(stage.log.lines)
    assert (probed.faults, probed.states) == (1, {HealthState.HEALTHY: 2})


def test_what_is_known_of_providers_that_are_gone_is_forgotten() -> None:
    kept, gone = a_provider(), a_provider()
    stage = ProbeStage([kept, gone])
    for lane in Lane:
        stage.circuits[lane].circuits = {each.id: a_circuit(each, failures=1) for each in (kept, gone)}
    stage.run()
    stage.providers.remove(gone)
    stage.run()

    assert set(stage.book.healths) == {kept.id}
    assert [set(store.circuits) for store in stage.circuits.values()] == [{kept.id}] * 2
    assert stage.journal.entries == []


def test_a_registration_that_was_written_since_is_looked_at_anew() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])
    stage.states(provider, [FAILED] * 3)
    stage.providers[0] = provider.with_source(generation=2)

    assert stage.states(provider, [FAILED]) == [HealthState.FAILING]


def test_a_run_that_is_not_due_reads_and_does_nothing() -> None:
    stage = ProbeStage([a_provider()])
    stage.run()
    stage.clock.advance(EVERY_S - 1)

    assert asyncio.run(stage.another()(budget_s=45)) is None
    assert len(stage.check.asked) == 1
    stage.clock.advance(1)
    assert asyncio.run(stage.another()(budget_s=45)) is not None


def test_of_two_at_once_one_looks() -> None:
    stage = ProbeStage([a_provider() for _ in range(5)])
    stage.clock.advance(300)

    async def both() -> list[object]:
        return await asyncio.gather(stage.probe(budget_s=45), stage.another()(budget_s=45))

    probed = asyncio.run(both())
    assert [each is None for each in probed].count(True) == 1
    assert len(stage.check.asked) == 5


def test_a_run_that_was_cut_off_keeps_nobody_back_once_its_lease_is_over() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])

    async def killed(deadline: Deadline) -> Finding:
        raise KeyboardInterrupt

    stage.check.findings[provider.id] = killed
    stage.clock.advance(300)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(stage.probe(budget_s=45))
    assert stage.book.run is not None
    assert stage.book.run.finished_at is None
    stage.finds(provider)

    assert stage.run().states == {HealthState.HEALTHY: 1}


@pytest.mark.parametrize("part", ["catalog", "book"])
def test_a_store_that_is_away_ends_the_run_before_anything_is_asked(part: str) -> None:
    stage = ProbeStage([a_provider()])
    getattr(stage, part).failure = Unavailable()
    stage.clock.advance(300)

    with pytest.raises(Unavailable):
        asyncio.run(stage.probe(budget_s=45))
    assert stage.check.asked == []
    getattr(stage, part).failure = None
    assert asyncio.run(stage.probe(budget_s=45)) is not None


def test_a_journal_that_is_away_costs_its_entries_alone() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])
    stage.journal.failure = Unavailable()
    stage.finds(provider, OutcomeCode.UNAUTHORIZED)
    stage.clock.advance(300)

    with pytest.raises(Unavailable):
        asyncio.run(stage.probe(budget_s=45))
    assert stage.health(provider).state is HealthState.REFUSED
    assert stage.book.finished is not None
    assert len(stage.said(HEALTH_CHANGED)) == 1


def test_what_was_left_alone_until_then_is_looked_at_after_it() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])
    stage.finds(provider, OutcomeCode.UPSTREAM_ERROR, retry_at=stage.clock.now() + 300 + 700)
    stage.run()
    for _ in range(2):
        assert stage.run().states == {HealthState.LIMITED: 1}
    asked = len(stage.check.asked)
    stage.finds(provider)

    assert (asked, stage.run().states) == (1, {HealthState.HEALTHY: 1})
    assert stage.book.writes == 2


def test_a_service_of_tools_is_asked_as_its_pool_says_and_not_as_it_said() -> None:
    """An operator may have woken the pool since."""
    provider = an_internal_provider(kind=ProviderKind.MINTLIFY, signing=None)
    stage = ProbeStage([provider])
    stage.finds(provider, OutcomeCode.RATE_LIMITED, retry_at=stage.clock.now() + 3_000)
    stage.run()
    stage.finds(provider)

    assert stage.run().states == {HealthState.HEALTHY: 1}
    assert stage.health(provider).look is Look.TOOLS


def test_a_hosted_service_that_is_well_is_asked_once_an_hour_and_one_that_is_not_each_time() -> None:
    """Some count a thousand requests a day, and those are for searches."""
    provider = an_internal_provider(kind=ProviderKind.MINTLIFY, base_url="")
    stage = ProbeStage([provider])
    stage.finds(provider)

    for _ in range(24 * 12):
        stage.run()
    assert len(stage.check.asked) in (24, 25)
    assert stage.health(provider).state is HealthState.HEALTHY

    asked = len(stage.check.asked)
    stage.states(provider, [FAILED] * 24)
    assert len(stage.check.asked) - asked >= 12
    assert stage.states(provider, [OK]) == [HealthState.HEALTHY]
