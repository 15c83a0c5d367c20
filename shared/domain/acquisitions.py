"""Fetching the text of one approved source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.domain.passages import Evidence, FreshnessWish, Warning_

MAX_TEXT_CHARACTERS = 100_000

# Codes of an `ExchangeError` that only an acquisition can end in.
NOT_FRESH: Final = "not_fresh"  # `force`, and the text was fetched before
LEFT_APPROVED_HOSTS: Final = "source_not_approved"  # the text comes from a host, or a URL, that is not approved


class Acquisition(StrEnum):
    """`live` only for a forced acquisition that succeeded."""

    LIVE = "live"
    CACHED_OR_UNKNOWN = "cached_or_unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """`url` is in its normal form, without a fragment, and its host is approved by the source that is asked."""

    url: str
    freshness: FreshnessWish = FreshnessWish.NORMAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquired:
    """`url` is what was asked for; `final_url` is where the text comes from: the same where only a slash at the end
    differs. A text that goes on is cut at `MAX_TEXT_CHARACTERS` and `truncated`.
    """

    url: str
    final_url: str
    title: str | None
    text: str
    truncated: bool = False
    evidence: Evidence = Evidence.SOURCE_EXCERPT
    acquisition: Acquisition = Acquisition.CACHED_OR_UNKNOWN
    warnings: tuple[Warning_, ...] = ()
