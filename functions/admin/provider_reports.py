"""What came of a provider's test, as admins see it."""

from __future__ import annotations

from pydantic import BaseModel

from shared.domain.bindings import CommonConfig, common_of
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Warning_
from shared.domain.registrations import SERVER_KINDS, ProviderKind
from shared.services.test_provider import Report
from shared.web.contract_provider_models import CapabilitiesModel, ContractShown
from shared.web.live_outcome_words import live_explanation_of
from shared.web.live_test_models import FetchedShown, FoundShown, LiveConditions, LiveTestShown
from shared.web.moments import moment_or_none
from shared.web.provider_models import ProviderShown
from shared.web.provider_test_models import (
    ActivationLost,
    EffectiveConfig,
    ProviderTestShown,
    drops_shown,
    explained,
    passages_shown,
)
from shared.web.server_outcome_words import server_explanation_of
from shared.web.server_test_models import ServerConditions, ServerTestShown


def report_shown(report: Report, *, now: float) -> BaseModel:
    kind = report.provider.source.kind
    if kind is ProviderKind.CONTRACT:
        return _contract(report, now=now)
    return _server(report, now=now) if kind in SERVER_KINDS else _live(report, now=now)


def _contract(report: Report, *, now: float) -> ProviderTestShown:
    source = report.provider.source
    error_code = _outcome(report)
    return ProviderTestShown(
        status=report.status,
        error_code=error_code,
        explanation=explained(error_code),
        duration_ms=report.duration_ms,
        result_count=len(report.kept),
        results=passages_shown(report.kept),
        dropped=drops_shown(report.dropped),
        warnings=_warnings(report),
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
        provider=ContractShown.of(report.provider, now=now),
    )


def _live(report: Report, *, now: float) -> LiveTestShown:
    return LiveTestShown.model_validate(
        {
            "status": report.status,
            "error_code": report.error_code,
            "explanation": live_explanation_of(report.error_code),
            "retry_at": moment_or_none(report.retry_at),
            "duration_ms": report.duration_ms,
            "result_count": len(report.kept),
            "results": passages_shown(report.kept),
            "discoveries": tuple(FoundShown.of(each) for each in report.discoveries),
            "fetched": None if report.acquired is None else FetchedShown.of(report.acquired),
            "warnings": _warnings(report),
            "activated": report.activated,
            "effective": LiveConditions(timeout_ms=report.trial.timeout_ms, limit=report.trial.limit),
            "provider": ProviderShown.of(report.provider, now=now),
        }
    )


def _server(report: Report, *, now: float) -> ServerTestShown:
    source, common = report.provider.source, common_of(report.provider.source.config) or CommonConfig()
    error_code = _outcome(report)
    return ServerTestShown(
        status=report.status,
        error_code=error_code,
        explanation=server_explanation_of(error_code),
        retry_at=moment_or_none(report.retry_at),
        duration_ms=report.duration_ms,
        result_count=len(report.kept),
        results=passages_shown(report.kept),
        warnings=(*_warnings(report), "upstream_may_bill_or_log"),
        activated=report.activated,
        effective=ServerConditions(
            base_url=source.base_url,
            timeout_ms=report.trial.timeout_ms,
            limit=report.trial.limit,
            max_snippet_characters=common.max_snippet_characters,
        ),
        provider=ProviderShown.of(report.provider, now=now),
    )


def _outcome(report: Report) -> OutcomeCode | None:
    """Of what was searched. Only a fetched source can fail in a way that no search can."""
    code = report.error_code
    return code if code is None or isinstance(code, OutcomeCode) else OutcomeCode.UPSTREAM_ERROR


def _warnings(report: Report) -> tuple[Warning_ | ActivationLost, ...]:
    return (*report.warnings, "activation_lost") if report.activation_lost else report.warnings
