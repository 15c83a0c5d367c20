"""The routes of the allowances."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from functions.admin.desk import Call, Desk
from functions.admin.parts import Parts
from shared.domain.allowances import Allowance
from shared.domain.pools import Pool
from shared.domain.preconditions import existing
from shared.services.change_allowance import ChangeAllowance
from shared.services.read_allowance import ReadAllowance
from shared.web.allowance_models import AllowancePut, AllowanceShown, AllowancesShown
from shared.web.api import answer
from shared.web.etags import etag_of, required_generation
from shared.web.wire import read_body

PATH = "/api/v1/knowledge/allowances"
ONE = PATH + "/{pool}"


def add_allowance_routes(desk: Desk, parts: Parts) -> None:
    read = ReadAllowance(desk=parts.live.allowance_desk)
    change = ChangeAllowance(desk=parts.live.allowance_desk, clock=parts.clock)

    @desk.route("GET", PATH)
    async def list_allowances(_call: Call) -> Response[str]:
        now = parts.clock.now()
        shown = AllowancesShown(allowances=tuple(AllowanceShown.of(each, now=now) for each in await read.all()))
        return answer(shown.model_dump_json(by_alias=True))

    @desk.route("GET", ONE)
    async def get_allowance(_call: Call, pool: str) -> Response[str]:
        return _shown(parts, await read(_pool(pool)))

    @desk.route("PUT", ONE)
    async def put_allowance(call: Call, pool: str) -> Response[str]:
        named, generation = _pool(pool), required_generation(call.event)
        body = read_body(AllowancePut, call.event)
        changed = await change(
            named, limit=body.limit, review=body.reviewed(), expected_generation=generation, by=call.principal
        )
        return _shown(parts, changed)


def _pool(name: str) -> Pool:
    """Raises `NotFound`."""
    return existing(next((pool for pool in Pool if pool == name), None))


def _shown(parts: Parts, allowance: Allowance) -> Response[str]:
    shown = AllowanceShown.of(allowance, now=parts.clock.now())
    return answer(shown.model_dump_json(by_alias=True), headers={"ETag": etag_of(shown.generation)})
