"""The routes of health: for admins, and for agents about what they may reach."""

from __future__ import annotations

from typing import Final

from aws_lambda_powertools.event_handler import Response

from functions.admin.desk import Call, Desk
from functions.admin.parts import Parts
from shared.domain.exposure import CredentialClass
from shared.services.list_pools import ListPools
from shared.services.report_health import ReportHealth
from shared.web.api import answer
from shared.web.health_models import HealthShown, OneHealthShown

PATH: Final = "/api/v1/knowledge/health"
ONE: Final = PATH + "/{provider_id}"
_CLASSES: Final = (CredentialClass.ADMIN, CredentialClass.AGENT)


def add_health_routes(desk: Desk, parts: Parts) -> None:
    """`parts` with the plain registry: what else cannot be read is told and is no reason to tell nothing."""
    report = ReportHealth(
        registry=parts.registry,
        circuits=parts.health.circuits,
        looks=parts.health.looks,
        histories=parts.health.histories,
        pools=ListPools(keys=parts.live.pool_keys, ledger=parts.live.pool_ledger, clock=parts.clock),
        allowances=parts.live.allowance_desk,
        clock=parts.clock,
    )

    @desk.route("GET", PATH, classes=_CLASSES)
    async def show_health(call: Call) -> Response[str]:
        return answer(HealthShown.of(await report(by=call.principal)).model_dump_json(by_alias=True))

    @desk.route("GET", ONE, classes=_CLASSES)
    async def show_health_of_one(call: Call, provider_id: str) -> Response[str]:
        shown = OneHealthShown.of(await report.one(provider_id, by=call.principal))
        return answer(shown.model_dump_json(by_alias=True))
