"""Looking at many providers: bounded in time and at once, whatever they do. Time passes only while all wait."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import cast
from urllib.parse import urlsplit

import pytest
from aws_lambda_powertools import Logger

from shared.domain.deadlines import Deadline
from shared.domain.health import Finding, HealthState, Look
from shared.domain.outcomes import OutcomeCode
from shared.domain.registrations import Provider, ProviderKind
from shared.services.probe_looks import AT_ONCE, LOOK_S, PER_HOST, LookAtAll
from shared.services.probe_providers import TOTAL_S
from tests.support.builders import a_provider, an_internal_provider
from tests.support.health_fakes import ScriptedCheck
from tests.support.probe_stage import ProbeStage
from tests.support.search_stage import RecordedLog
from tests.support.virtual_time import VirtualClock

WELL = Finding(look=Look.CAPABILITIES)


class Crowd:
    """Providers, a share of which never answers; how many were looked at together, in all and of one host."""

    def __init__(self, providers: list[Provider], *, hanging: int) -> None:
        self.clock = VirtualClock()
        self.providers = providers
        self.hanging = {each.id for each in providers[:hanging]}
        self.now: Counter[str] = Counter()
        self.most = self.most_of_a_host = 0
        self.asked: list[str] = []
        self.check = ScriptedCheck()

    async def __call__(self, provider: Provider, *, deadline: Deadline) -> Finding:
        host = urlsplit(provider.source.base_url).netloc
        self.asked.append(provider.id)
        self.now[host] += 1
        self.most = max(self.most, self.now.total())
        self.most_of_a_host = max(self.most_of_a_host, self.now[host])
        try:
            await asyncio.sleep(3_600 if provider.id in self.hanging else 0.05)
        finally:
            self.now[host] -= 1
        return WELL

    def look_at_all(self) -> LookAtAll:
        logger = cast("Logger", RecordedLog())
        return LookAtAll(checks=dict.fromkeys(ProviderKind, self), clock=self.clock, logger=logger)


def crowd(count: int, *, hanging: int, hosts: int) -> Crowd:
    made = [a_provider(base_url=f"https://kb{number % hosts}.fern-desk.test/v1") for number in range(count)]
    return Crowd(made, hanging=hanging)


def test_of_two_hundred_a_hundred_and_fifty_may_hang_and_all_are_looked_at_in_time() -> None:
    people = crowd(200, hanging=150, hosts=200)
    until_s = people.clock.monotonic() + TOTAL_S - 3

    looked = people.clock.run(people.look_at_all()(people.providers, until_s=until_s))

    assert people.clock.monotonic() <= until_s
    codes = Counter(each.code for each in looked.findings.values())
    assert codes == {None: 50, OutcomeCode.TIMEOUT: 150}
    assert (looked.left_out, people.most) == ((), AT_ONCE)
    assert people.now.total() == 0


def test_however_many_hang_the_time_holds_and_the_rest_is_left_out_in_its_order() -> None:
    people = crowd(400, hanging=400, hosts=400)
    until_s = people.clock.monotonic() + TOTAL_S - 3

    looked = people.clock.run(people.look_at_all()(people.providers, until_s=until_s))

    assert people.clock.monotonic() <= until_s
    begun = int((TOTAL_S - 3) / LOOK_S) * AT_ONCE
    assert begun - AT_ONCE <= len(looked.findings) <= begun
    assert looked.left_out == tuple(each.id for each in people.providers[len(looked.findings) :])
    assert looked.next_id == people.providers[len(looked.findings)].id


def test_of_one_server_few_are_looked_at_at_once_and_the_others_do_not_wait_for_them() -> None:
    slow = [a_provider(base_url="https://slow.fern-desk.test") for _ in range(60)]
    others = [a_provider(base_url=f"https://kb{number}.fern-desk.test") for number in range(60)]
    people = Crowd([*slow, *others], hanging=60)

    looked = people.clock.run(people.look_at_all()(people.providers, until_s=people.clock.monotonic() + 20))

    assert people.most_of_a_host == PER_HOST
    assert all(looked.findings[each.id] == WELL for each in others)
    assert set(looked.left_out) < {each.id for each in slow}


def test_the_next_run_begins_with_those_that_were_left_out() -> None:
    stage = ProbeStage([a_provider(base_url="https://one.fern-desk.test") for _ in range(30)])
    people = Crowd(stage.providers, hanging=30)
    stage.clock = stage.book._clock = stage.journal._clock = people.clock  # type: ignore[assignment]
    stage.check = cast("ScriptedCheck", people)
    probe, seen = stage.another(), []
    for _ in range(4):
        people.clock.advance(300)
        before = len(people.asked)
        probed = people.clock.run(probe(budget_s=TOTAL_S))
        assert probed is not None
        assert probed.looked_at + probed.left_out == 30
        seen.append(people.asked[before:])

    ids = sorted(each.id for each in stage.providers)
    in_turn = [each for run in seen for each in run]
    assert len(in_turn) >= 60
    assert in_turn == (ids * 6)[: len(in_turn)]


def test_a_look_that_does_not_end_when_it_should_is_left_behind() -> None:
    stubborn, well = an_internal_provider(), a_provider()
    clock = VirtualClock()
    check = ScriptedCheck()

    async def never(deadline: Deadline) -> Finding:
        while True:
            try:
                await asyncio.sleep(3_600)
            except asyncio.CancelledError:
                await asyncio.sleep(60)
                return WELL

    check.findings[stubborn.id] = never
    logger = cast("Logger", RecordedLog())
    look = LookAtAll(checks=dict.fromkeys(ProviderKind, check), clock=clock, logger=logger)

    looked = clock.run(look([stubborn, well], until_s=clock.monotonic() + 10))

    assert clock.waited_s < LOOK_S + 1
    assert looked.findings[stubborn.id].code is OutcomeCode.TIMEOUT
    assert looked.findings[well.id] == WELL


@pytest.mark.parametrize("budget_s", [0.0, 5.0, 6.9])
def test_with_too_little_time_for_a_look_none_is_begun(budget_s: float) -> None:
    provider = a_provider()
    stage = ProbeStage([provider])

    probed = stage.run(budget_s=budget_s)

    assert (stage.check.asked, probed.left_out, probed.states) == ([], 1, {HealthState.UNCHECKED: 1})
    assert stage.run().looked_at == 1


def test_a_look_that_cancels_itself_is_a_fault_of_ours() -> None:
    provider = a_provider()
    stage = ProbeStage([provider])

    async def gives_up(deadline: Deadline) -> Finding:
        raise asyncio.CancelledError

    stage.check.findings[provider.id] = gives_up

    assert stage.run().faults == 1
