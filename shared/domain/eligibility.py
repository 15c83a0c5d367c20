"""Which providers one search by an agent asks, and what it says about the named ones that it does not ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shared.domain.outcomes import Outcome, OutcomeCode, OutcomeStatus
from shared.domain.registrations import Provider, ProviderKind, ProviderStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """`eligible` in registration order; `refused` tells of named ids alone, in the order of their naming."""

    eligible: tuple[Provider, ...]
    refused: tuple[Outcome, ...] = ()


def choose(providers: Iterable[Provider], *, named: Sequence[str] | None, allowed: Sequence[str] | None) -> Choice:
    """`allowed` is the credential's own list (None = no list). An unknown id, a malformed one and one that the
    credential may not reach are refused in the same words.
    """
    wanted = None if named is None else dict.fromkeys(named)
    considered = providers if wanted is None else (p for p in providers if p.source.id in wanted)
    reachable = {p.source.id: p for p in considered if allowed is None or p.source.id in allowed}
    eligible = {id_: p for id_, p in reachable.items() if p.status is ProviderStatus.ACTIVE and _searches(p)}
    return Choice(
        eligible=tuple(eligible.values()),
        refused=tuple(_refusal(id_, reachable.get(id_)) for id_ in wanted or () if id_ not in eligible),
    )


def _refusal(provider_id: str, provider: Provider | None) -> Outcome:
    return Outcome(
        provider_id=provider_id,
        name=provider.source.name if provider else None,
        status=OutcomeStatus.SKIPPED,
        error_code=_why(provider),
    )


def _why(provider: Provider | None) -> OutcomeCode:
    if provider is None:
        return OutcomeCode.NOT_FOUND
    return OutcomeCode.DISABLED if _searches(provider) else OutcomeCode.CAPABILITY_UNAVAILABLE


def _searches(provider: Provider) -> bool:
    """Firecrawl fetches single sources and answers no searches."""
    return provider.source.kind is not ProviderKind.FIRECRAWL
