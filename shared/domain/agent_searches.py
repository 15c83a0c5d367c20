"""What an agent may ask for."""

from __future__ import annotations

from dataclasses import dataclass

from shared.domain.passages import FreshnessWish


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSearch:
    """`providers` narrows what the credential may reach and never widens it; None = all of that."""

    query: str
    limit: int = 10
    locale: str | None = None
    locale_fallback: str | None = None
    conversation_id: str | None = None
    providers: tuple[str, ...] | None = None
    collections: tuple[str, ...] = ()
    product: str | None = None
    repository: str | None = None
    version: str | None = None
    freshness: FreshnessWish = FreshnessWish.NORMAL
