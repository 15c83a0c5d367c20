"""Which provider fetches a source that an agent wants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shared.domain.acquisitions import Acquired
from shared.domain.live_configs import ACQUIRING_KINDS, SourcePolicy
from shared.domain.passages import FreshnessWish
from shared.domain.registrations import Provider, ProviderStatus, Source
from shared.domain.source_policy import approved_url
from shared.errors import Invalid, NotFound, Violation


@dataclass(frozen=True, slots=True, kw_only=True)
class AcquireWish:
    """What an agent asks for. `url` is in its normal form; `provider` is the id of the one to ask, None for any."""

    url: str
    freshness: FreshnessWish = FreshnessWish.NORMAL
    provider: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcquiredFrom:
    """A text, and whom it was fetched by."""

    source: Source
    acquired: Acquired


def acquirer_for(
    wish: AcquireWish, providers: Iterable[Provider], *, allowed: Sequence[str] | None, allow_test_names: bool
) -> Provider:
    """The active provider to ask, out of those that `allowed`, the credential's own list (None = no list), leaves:
    the named one, else of those that approve the host the one of the lowest priority, then the first registered.

    `providers` are in registration order. Raises `NotFound` for a named one that is unknown, forbidden, switched off
    or of a kind that fetches nothing, all in the same words, and `Invalid` (`source_not_approved`) when none approves.
    """
    reachable = [p for p in providers if _fetches(p) and (allowed is None or p.id in allowed)]
    if wish.provider is not None:
        reachable = [p for p in reachable if p.id == wish.provider]
        if not reachable:
            raise NotFound("There is no such provider that fetches sources.")
    approving = [p for p in reachable if _approves(p, wish.url, allow_test_names=allow_test_names)]
    if not approving:
        raise _not_approved()
    return min(approving, key=lambda p: p.source.priority)


def _fetches(provider: Provider) -> bool:
    return provider.status is ProviderStatus.ACTIVE and provider.source.kind in ACQUIRING_KINDS


def _approves(provider: Provider, url: str, *, allow_test_names: bool) -> bool:
    policy = provider.source.config
    return isinstance(policy, SourcePolicy) and approved_url(url, policy, allow_test_names=allow_test_names) is not None


def _not_approved() -> Invalid:
    detail = "No provider that may be asked here approves the host of this source."
    return Invalid(detail, code="source_not_approved", violations=(Violation(pointer="/url", detail=detail),))
