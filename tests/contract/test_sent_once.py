"""Metered operations over real connections: what may have arrived is never sent again, and no kept connection that
died costs an operation.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shared.domain.registrations import ProviderKind
from shared.errors import ConnectionFailed
from shared.ports.exchange import OutboundRequest
from shared.ports.meter import Attempt
from tests.support.builders import a_source
from tests.support.hostile_provider import HostileProvider, hostile_provider
from tests.support.live_cases import MeteredStage

BREAKING = ("closes_when_reused", "dies_when_reused")
KINDS = (ProviderKind.EXA, ProviderKind.MINTLIFY)  # one with keys and one without


@pytest.fixture
def server() -> Iterator[HostileProvider]:
    with hostile_provider() as server:
        yield server


def stage_at(server: HostileProvider, kind: ProviderKind, behaviour: str) -> MeteredStage:
    source = a_source(kind=kind, base_url=server.url(behaviour), signing=None)
    return MeteredStage(source, keys={"EXA_API_KEY": "k-demo-zero", "EXA_API_KEY_1": "k-demo-one"})


async def operate(stage: MeteredStage, *, sendings: int) -> int:
    """One operation; the states that came back, added up."""
    request = OutboundRequest(method="POST", url=f"{stage.source.base_url}/work", body=b'{"paid":true}')

    async def work(attempt: Attempt) -> int:
        return sum([(await attempt.exchange.send(lambda: request)).status for _ in range(sendings)])

    return await stage.meter().perform(work)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("behaviour", BREAKING)
async def test_what_was_read_and_never_answered_is_not_sent_again(
    server: HostileProvider, behaviour: str, kind: ProviderKind
) -> None:
    stage = stage_at(server, kind, behaviour)
    with pytest.raises(ConnectionFailed):
        await stage.ended(operate(stage, sendings=2))
    assert [seen.nth_on_connection for seen in server.requests] == [1, 2]
    assert stage.units == (0, 0, 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("behaviour", BREAKING)
async def test_a_service_that_closes_what_lies_idle_costs_no_operation(
    server: HostileProvider, behaviour: str, kind: ProviderKind
) -> None:
    stage = stage_at(server, kind, behaviour)

    async def operations() -> list[int]:
        return [await operate(stage, sendings=1) for _ in range(3)]

    assert await stage.ended(operations()) == [200] * 3
    assert [seen.nth_on_connection for seen in server.requests] == [1, 1, 1]
    assert stage.units == (3, 0, 0)
