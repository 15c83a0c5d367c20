"""The order of a merged answer. It depends on registrations, scores and ranks alone, never on who answered first."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from shared.domain.passages import Discovery, Passage
from shared.domain.registrations import ProviderKind, Source
from shared.domain.replies import Reply

_Key: TypeAlias = "tuple[int, int, int, float, tuple[float, str], int]"


@dataclass(frozen=True, slots=True)
class Found:
    """One passage and the source that it came from."""

    source: Source
    passage: Passage


@dataclass(frozen=True, slots=True)
class Cited:
    """One discovery and the source that it came from."""

    source: Source
    discovery: Discovery


def ordered(replies: Iterable[Reply]) -> list[Found]:
    """All passages, best first.

    By `priority` (lower first). Within one priority: results of contract providers that declare scoring, by score
    (those without a score last), then all others in turn: each provider's first, each one's second, and so on.
    Ties go by registration order, then by the provider's own rank. Scores of different kinds are never compared.
    """
    ranked = [
        (_key(reply.source, passage, rank), Found(reply.source, passage))
        for reply in replies
        for rank, passage in enumerate(reply.passages)
    ]
    return [found for _, found in sorted(ranked, key=lambda pair: pair[0])]


def ordered_discoveries(replies: Iterable[Reply]) -> list[Cited]:
    """By `priority`, then each provider's in turn; ties go by registration order."""
    ranked = [
        ((reply.source.priority, rank, reply.source.registered), Cited(reply.source, discovery))
        for reply in replies
        for rank, discovery in enumerate(reply.discoveries)
    ]
    return [cited for _, cited in sorted(ranked, key=lambda pair: pair[0])]


def _key(source: Source, passage: Passage, rank: int) -> _Key:
    registered = source.registered
    if not (source.kind is ProviderKind.CONTRACT and source.capabilities.scoring):
        return (source.priority, 1, 0, float(rank), registered, rank)
    score = passage.score
    if score is None or not math.isfinite(score):
        return (source.priority, 0, 1, 0.0, registered, rank)
    return (source.priority, 0, 0, -score, registered, rank)
