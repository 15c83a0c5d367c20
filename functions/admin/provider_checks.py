"""The routes that ask a provider something: a test, and its capabilities."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from functions.admin.desk import Call, Desk
from functions.admin.parts import Parts
from functions.admin.provider_reports import report_shown
from functions.admin.providers import ONE
from functions.admin.server_services import try_server_of
from shared.domain.outcomes import OutcomeStatus
from shared.domain.registrations import ProviderKind
from shared.services.change_provider import ChangeProvider
from shared.services.list_providers import ListProviders
from shared.services.open_line import OpenLine
from shared.services.reread_capabilities import Reading, RereadCapabilities
from shared.services.test_provider import TestProvider, WayToTry
from shared.services.try_live import TryAsking, TryFetching
from shared.services.try_signed import TrySigned
from shared.web.api import answer
from shared.web.contract_provider_models import ContractShown
from shared.web.etags import etag_of, generation_named
from shared.web.fields import Nothing
from shared.web.live_test_models import read_test
from shared.web.provider_test_models import CapabilitiesShown, explained, wire_names
from shared.web.wire import read_body


def add_provider_check_routes(desk: Desk, parts: Parts) -> None:
    change = ChangeProvider(registry=parts.registry, put_back=parts.health.put_back, clock=parts.clock)
    open_line = OpenLine(exchanges=parts.exchanges, unsealers=parts.unsealers, clock=parts.clock)
    providers = ListProviders(registry=parts.registry)
    test = TestProvider(registry=parts.registry, change=change, ways=_ways(parts, open_line))
    reread = RereadCapabilities(
        registry=parts.registry, change=change, retrievers=parts.retrievers, open_line=open_line
    )

    @desk.route("POST", ONE + "/test", changes=False)
    async def test_provider(call: Call, provider_id: str) -> Response[str]:
        kind = (await providers.one(provider_id)).source.kind  # it decides what may be sent, and never changes
        body = read_test(call.event, kind)
        report = await test(
            provider_id,
            body.wanted(),
            activate=body.activate,
            expected_generation=generation_named(call.event),
            by=call.principal,
        )
        shown = report_shown(report, now=parts.clock.now())
        return answer(shown.model_dump_json(by_alias=True), headers={"ETag": etag_of(report.provider.generation)})

    @desk.route("POST", ONE + "/capabilities")
    async def reread_capabilities(call: Call, provider_id: str) -> Response[str]:
        read_body(Nothing, call.event, empty=True)
        reading = await reread(provider_id, expected_generation=generation_named(call.event), by=call.principal)
        shown = _reading_shown(reading, now=parts.clock.now())
        return answer(shown.model_dump_json(by_alias=True), headers={"ETag": etag_of(reading.provider.generation)})


def _ways(parts: Parts, open_line: OpenLine) -> dict[ProviderKind, WayToTry]:
    signed = {
        kind: TrySigned(retriever=retriever, open_line=open_line, clock=parts.clock)
        for kind, retriever in parts.retrievers.items()
    }
    asking = {
        kind: TryAsking(asker=asker, unsealers=parts.unsealers, clock=parts.clock)
        for kind, asker in parts.live.askers.items()
    }
    fetching = {
        kind: TryFetching(
            acquirer=acquirer,
            meters=parts.live.meters,
            endpoint=parts.live.endpoints[kind],
            allow_test_names=parts.allow_loopback_http,
            clock=parts.clock,
        )
        for kind, acquirer in parts.live.acquirers.items()
    }
    served = dict.fromkeys(parts.server.askers, try_server_of(parts))
    return {**fetching, **asking, **served, **signed}  # what answers searches is tested by a search


def _reading_shown(reading: Reading, *, now: float) -> CapabilitiesShown:
    failed = reading.error_code is not None
    return CapabilitiesShown(
        status=OutcomeStatus.FAILED if failed else OutcomeStatus.SUCCESS,
        error_code=reading.error_code,
        explanation=explained(reading.error_code),
        listed=reading.listed,
        changed=wire_names(reading.changed),
        provider=ContractShown.of(reading.provider, now=now),
    )
