"""The routes that ask a provider something: a test, and its capabilities."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from functions.admin.desk import Call, Desk
from functions.admin.parts import Parts
from functions.admin.providers import ONE
from shared.domain.outcomes import OutcomeStatus
from shared.services.change_provider import ChangeProvider
from shared.services.open_line import OpenLine
from shared.services.reread_capabilities import Reading, RereadCapabilities
from shared.services.test_provider import Report, TestProvider
from shared.web.api import answer
from shared.web.etags import etag_of, generation_named
from shared.web.fields import Nothing
from shared.web.provider_models import CapabilitiesModel, ProviderShown
from shared.web.provider_test_models import (
    CapabilitiesShown,
    EffectiveConfig,
    ProviderTest,
    ProviderTestShown,
    drops_shown,
    explained,
    passages_shown,
    wire_names,
)
from shared.web.wire import read_body


def add_provider_check_routes(desk: Desk, parts: Parts) -> None:
    change = ChangeProvider(registry=parts.registry, clock=parts.clock)
    open_line = OpenLine(exchanges=parts.exchanges, unsealers=parts.unsealers, clock=parts.clock)
    test = TestProvider(
        registry=parts.registry, change=change, retrievers=parts.retrievers, open_line=open_line, clock=parts.clock
    )
    reread = RereadCapabilities(
        registry=parts.registry, change=change, retrievers=parts.retrievers, open_line=open_line
    )

    @desk.route("POST", ONE + "/test", changes=False)
    async def test_provider(call: Call, provider_id: str) -> Response[str]:
        body = read_body(ProviderTest, call.event)
        report = await test(
            provider_id,
            body.query,
            activate=body.activate,
            expected_generation=generation_named(call.event),
            by=call.principal,
        )
        shown = _report_shown(report, now=parts.clock.now())
        return answer(shown.model_dump_json(by_alias=True), headers={"ETag": etag_of(report.provider.generation)})

    @desk.route("POST", ONE + "/capabilities")
    async def reread_capabilities(call: Call, provider_id: str) -> Response[str]:
        read_body(Nothing, call.event, empty=True)
        reading = await reread(provider_id, expected_generation=generation_named(call.event), by=call.principal)
        shown = _reading_shown(reading, now=parts.clock.now())
        return answer(shown.model_dump_json(by_alias=True), headers={"ETag": etag_of(reading.provider.generation)})


def _report_shown(report: Report, *, now: float) -> ProviderTestShown:
    source = report.provider.source
    return ProviderTestShown(
        status=report.status,
        error_code=report.error_code,
        explanation=explained(report.error_code),
        duration_ms=report.duration_ms,
        result_count=len(report.kept),
        results=passages_shown(report.kept),
        dropped=drops_shown(report.dropped),
        warnings=(*report.warnings, "activation_lost") if report.activation_lost else report.warnings,
        activated=report.activated,
        effective=EffectiveConfig(
            base_url=source.base_url,
            contract_version=source.contract_version,
            capabilities=CapabilitiesModel.of(source.capabilities),
            allow_private_network=source.allow_private_network,
            timeout_ms=report.trial.timeout_ms,
            limit=report.trial.limit,
            signatures=report.trial.signatures,
        ),
        provider=ProviderShown.of(report.provider, now=now),
    )


def _reading_shown(reading: Reading, *, now: float) -> CapabilitiesShown:
    failed = reading.error_code is not None
    return CapabilitiesShown(
        status=OutcomeStatus.FAILED if failed else OutcomeStatus.SUCCESS,
        error_code=reading.error_code,
        explanation=explained(reading.error_code),
        listed=reading.listed,
        changed=wire_names(reading.changed),
        provider=ProviderShown.of(reading.provider, now=now),
    )
