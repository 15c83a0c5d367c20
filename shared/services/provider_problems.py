"""What a caller is told when the one provider that was asked gave nothing: a problem, in the gateway's own words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from shared.domain.acquisitions import LEFT_APPROVED_HOSTS, NOT_FRESH
from shared.domain.outcomes import OutcomeCode, outcome_code_of
from shared.errors import ExchangeError, NotFound, Problem, ProviderFailed, ProviderTimeout, ProviderUnavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    kind: type[Problem]
    code: str
    detail: str


_TOLD: Final[Mapping[str, _Told]] = {
    OutcomeCode.NOT_FOUND: _Told(
        kind=ProviderFailed, code="source_not_found", detail="The service could not fetch the source."
    ),
    OutcomeCode.CAPABILITY_UNAVAILABLE: _Told(
        kind=ProviderFailed, code="source_not_readable", detail="The service has no text of this source to give."
    ),
    OutcomeCode.RESPONSE_TOO_LARGE: _Told(
        kind=ProviderFailed, code="source_too_large", detail="The answer of the service is larger than 1 MiB."
    ),
    NOT_FRESH: _Told(
        kind=ProviderFailed, code="source_not_fresh", detail="The service had no text but one fetched before."
    ),
    LEFT_APPROVED_HOSTS: _Told(
        kind=ProviderFailed, code="redirect_not_approved", detail="The source leads to a host that is not approved."
    ),
    OutcomeCode.TIMEOUT: _Told(
        kind=ProviderTimeout, code="provider_timeout", detail="The service did not answer in time."
    ),
    OutcomeCode.KEYS_EXHAUSTED: _Told(
        kind=ProviderUnavailable, code="keys_exhausted", detail="Every key of the service is resting."
    ),
    OutcomeCode.ALLOWANCE_EXHAUSTED: _Told(
        kind=ProviderUnavailable, code="allowance_exhausted", detail="The operations of the last 24 hours are used up."
    ),
    OutcomeCode.RATE_LIMITED: _Told(
        kind=ProviderUnavailable, code="provider_rate_limited", detail="The service takes no more requests now."
    ),
    OutcomeCode.CIRCUIT_OPEN: _Told(
        kind=ProviderUnavailable, code="circuit_open", detail="The service failed repeatedly and is left alone."
    ),
    OutcomeCode.DISABLED: _Told(
        kind=ProviderUnavailable,
        code="disabled",
        detail="The service was taken out of use after it failed repeatedly. Nothing was sent.",
    ),
    OutcomeCode.NOT_CONFIGURED: _Told(
        kind=ProviderUnavailable, code="not_configured", detail="The service is not set up here. Nothing was sent."
    ),
}
_FAILED: Final = _Told(kind=ProviderFailed, code="provider_failed", detail="The service gave nothing usable.")
# Of these the words above speak of a source that was to be fetched.
_OF_A_SOURCE: Final = frozenset(
    {OutcomeCode.NOT_FOUND, OutcomeCode.CAPABILITY_UNAVAILABLE, OutcomeCode.RESPONSE_TOO_LARGE}
)


def problem_for(error: ExchangeError, *, provider_id: str, now: float) -> Problem:
    """`Retry-After` is set where it is known when to come back. The facts name the provider, and the outcome code
    where `provider_failed` alone would not say what happened.
    """
    return _problem(error, _TOLD.get(error.code, _FAILED), facts={"provider": provider_id}, now=now)


def problem_of_server(error: ExchangeError, *, instance_id: str, now: float) -> Problem:
    """Of a self-hosted server that was read for an operator. What it does not know, or hides, is not there."""
    if error.code == OutcomeCode.NOT_FOUND:
        return NotFound("The server knows nothing by this id.")
    told = _FAILED if error.code in _OF_A_SOURCE else _TOLD.get(error.code, _FAILED)
    of_server = replace(told, detail=told.detail.replace("service", "server"))
    return _problem(error, of_server, facts={"instance": instance_id}, now=now)


def _problem(error: ExchangeError, told: _Told, *, facts: dict[str, str | int | list[str]], now: float) -> Problem:
    if told.code == _FAILED.code:
        facts["outcome"] = outcome_code_of(error).value
    return told.kind(told.detail, code=told.code, retry_after_s=_wait_s(error.retry_at, now=now), facts=facts)


def _wait_s(retry_at: float | None, *, now: float) -> int | None:
    return None if retry_at is None else max(1, math.ceil(retry_at - now))
