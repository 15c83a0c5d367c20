"""Remembers what providers answered to agents, for a short while and in this process alone. Off unless switched on."""

from __future__ import annotations

import unicodedata
from collections import OrderedDict
from dataclasses import dataclass

from shared.domain.agent_searches import AgentSearch
from shared.domain.credentials import Principal
from shared.domain.exposure import Grant
from shared.domain.outcomes import OutcomeStatus
from shared.domain.passages import FreshnessWish
from shared.domain.registrations import Provider
from shared.domain.replies import Reply
from shared.ports.clock import Clock, Moment

MAX_ENTRIES = 256
MAX_AGE_S = 120.0
_KEPT = frozenset({OutcomeStatus.SUCCESS, OutcomeStatus.EMPTY})


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheKey:
    """Everything that can change what one provider answers to one caller."""

    provider_id: str
    generation: int
    instance_generation: int
    contract_version: int
    query: str
    limit: int
    locale: str | None
    locale_fallback: str | None
    product: str | None
    repository: str | None
    version: str | None
    freshness: FreshnessWish
    credential_id: str
    grants: frozenset[Grant]
    agent_id: str | None


def cache_key(provider: Provider, search: AgentSearch, principal: Principal) -> CacheKey | None:
    """None when this search must neither be answered from memory nor remembered."""
    if search.conversation_id is not None or search.freshness is not FreshnessWish.NORMAL:
        return None
    return CacheKey(
        provider_id=provider.id,
        generation=provider.generation,
        instance_generation=provider.source.link.generation if provider.source.link else 0,
        contract_version=provider.source.contract_version,
        query=unicodedata.normalize("NFC", search.query).strip(),
        limit=search.limit,
        locale=search.locale,
        locale_fallback=search.locale_fallback,
        product=search.product,
        repository=search.repository,
        version=search.version,
        freshness=search.freshness,
        credential_id=principal.credential_id,
        grants=principal.grants,
        agent_id=principal.agent_id,
    )


class AgentCache:
    """At most 256 replies, each for at most `ttl_s` (0 = remembers nothing). Holds sifted replies alone; whoever
    recalls one sifts it again. Failures and cut replies are never kept.
    """

    def __init__(self, *, ttl_s: float, clock: Clock) -> None:
        self._ttl_s = min(ttl_s, MAX_AGE_S)
        self._clock = clock
        self._entries: OrderedDict[CacheKey, tuple[Reply, Moment]] = OrderedDict()

    def recall(self, key: CacheKey | None) -> Reply | None:
        entry = self._entries.get(key) if key is not None else None
        if key is None or entry is None:
            return None
        reply, kept_at = entry
        if not kept_at.is_within(self._ttl_s, clock=self._clock):
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return reply

    def keep(self, key: CacheKey | None, reply: Reply) -> None:
        if key is None or self._ttl_s <= 0 or reply.outcome.status not in _KEPT or reply.outcome.truncated:
            return
        self._entries[key] = (reply, Moment.of(self._clock))
        self._entries.move_to_end(key)
        if len(self._entries) > MAX_ENTRIES:
            self._entries.popitem(last=False)
