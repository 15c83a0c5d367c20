"""What the probe asks of the tables and keys, in two runs over all that is registered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

from fixtures.stand_ins.control import Control
from functions.probe.run import Probe
from shared.adapters.health_items import place_of_run
from shared.domain.circuits import Circuits, Lane, revision_of
from shared.domain.registrations import ProviderStatus
from shared.ports.circuits import KnownCircuits
from tests.contract.worlds import Clients, StoreWorld
from tests.infra.permissions import Recorder
from tests.support.probe_stage import a_circuit


class Context:
    def get_remaining_time_in_millis(self) -> int:
        return 60_000


def look_at_providers(
    probe: Probe,
    recorder: Recorder,
    *,
    environment: Mapping[str, str],
    services: Control,
    remove: Callable[[], None],
) -> None:
    """One provider's circuit is open on both lanes, the services that take no keys say that they were asked too often,
    and a provider is removed between the runs.
    """
    world = StoreWorld(Clients(), dict(environment))
    asyncio.run(_open_circuits(world))
    for service in ("deepwiki", "mintlify"):
        services.command({"service": service, "mode": "refuse_rate"})
    _run(probe, recorder)
    remove()
    world.clients.dynamodb.update_item(
        TableName=world.internal_ledger,
        Key=place_of_run(),
        UpdateExpression="SET started_at = :long_ago",
        ExpressionAttributeValues={":long_ago": {"N": "0"}},
    )
    _run(probe, recorder)
    services.command({"mode": "ok"})


def _run(probe: Probe, recorder: Recorder) -> None:
    with recorder.during("probe"):
        assert probe.run(Context())["providers"] is not None


async def _open_circuits(world: StoreWorld) -> None:
    used = [each for each in await world.catalog().providers() if each.status is ProviderStatus.ACTIVE]
    provider = next(each for each in used if each.id.startswith("cs_") and each.source.base_url)
    circuit = a_circuit(provider, revision=revision_of(provider.source), failures=3, open_until=time.time() + 600)

    def opened(_: Circuits) -> Circuits:
        return {provider.id: circuit}

    for lane in Lane:
        await world.circuits(lane).change(opened, known=KnownCircuits())
