"""The routes of the pools."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from functions.admin.desk import Call, Desk
from functions.admin.parts import Parts
from shared.domain.lanes import Lane
from shared.domain.pool_views import PoolView
from shared.domain.pools import Pool
from shared.domain.preconditions import existing
from shared.services.list_pools import ListPools
from shared.services.rest_key import RestKey
from shared.services.wake_keys import WakeKeys
from shared.services.wake_service import WakeService
from shared.web.api import answer
from shared.web.pool_models import KeyRest, KeysWake, PoolShown, PoolsShown
from shared.web.wire import read_body

PATH = "/api/v1/knowledge/pools"
ONE = PATH + "/{pool}"


def add_pool_routes(desk: Desk, parts: Parts) -> None:
    pools = ListPools(keys=parts.live.pool_keys, ledger=parts.live.pool_ledger, clock=parts.clock)
    rest = RestKey(pools=pools, desk=parts.live.pool_desk, clock=parts.clock)
    service = WakeService(
        registry=parts.registry, agent_circuits=parts.health.circuits[Lane.AGENT], put_back=parts.health.put_back
    )
    wake = WakeKeys(pools=pools, desk=parts.live.pool_desk, service=service, clock=parts.clock)

    @desk.route("GET", PATH)
    async def list_pools(_call: Call) -> Response[str]:
        shown = PoolsShown(pools=tuple(PoolShown.of(each) for each in await pools()))
        return answer(shown.model_dump_json(by_alias=True))

    @desk.route("POST", ONE + "/rest")
    async def rest_key(call: Call, pool: str) -> Response[str]:
        named, body = _named(pool), read_body(KeyRest, call.event)
        return _shown(await rest(named, body.key, seconds=body.seconds, by=call.principal))

    @desk.route("POST", ONE + "/wake")
    async def wake_keys(call: Call, pool: str) -> Response[str]:
        named, body = _named(pool), read_body(KeysWake, call.event, empty=True)
        return _shown(await wake(named, body.key, by=call.principal))


def _named(name: str) -> Pool:
    """Raises `NotFound`."""
    return existing(next((pool for pool in Pool if pool == name), None))


def _shown(view: PoolView) -> Response[str]:
    return answer(PoolShown.of(view).model_dump_json(by_alias=True))
