"""What a provider returns, after parsing: passages with their citations, and what was noticed on the way."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from shared.domain.exposure import Audience


class Evidence(StrEnum):
    """`source_excerpt`: original source text. `derived_context`: assembled or generated, and labelled so."""

    SOURCE_EXCERPT = "source_excerpt"
    DERIVED_CONTEXT = "derived_context"


class Freshness(StrEnum):
    CURRENT = "current"
    STALE = "stale"
    UNKNOWN = "unknown"


class FreshnessWish(StrEnum):
    """`fresh` asks for a new fetch; `force` also fails rather than take text that was fetched before."""

    NORMAL = "normal"
    FRESH = "fresh"
    FORCE = "force"


class Warning_(StrEnum):
    """Things worth an operator's attention that cost nobody the answer. Stable codes, no upstream words."""

    SURPLUS_CUT = "surplus_cut"  # more results than asked for
    INTERNAL_DROPPED = "internal_dropped"  # an internal result from a customer_safe registration
    AUDIENCE_MISSING = "audience_missing"  # missing or unrecognised: taken as internal
    RESULT_DROPPED = "result_dropped"  # over-long documentId or title
    FIELD_DROPPED = "field_dropped"  # an optional field that is over-long or invalid
    URL_DROPPED = "url_dropped"  # a citation URL that may not be shown
    SNIPPET_CUT = "snippet_cut"  # longer than 8,000 characters
    SOURCE_NOT_APPROVED = "source_not_approved"  # a citation of a host that the operator has not approved
    SOURCE_REDIRECTED = "source_redirected"  # the text comes from another URL than the one asked for
    SOURCE_FAILED = "source_failed"  # one source among several could not be fetched by the service
    VERSION_NOT_ADVERTISED = "version_not_advertised"  # the wanted version is not offered: the default was asked
    NOT_FRESH = "not_fresh"  # a new fetch was asked for and what came may be older
    CAPABILITIES_CHANGED = "capabilities_changed"  # the service offers its tool under another name or shape


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedScore:
    """One of several scores of a passage: `kind` is the provider's own name for how it was made."""

    kind: str
    value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One found passage and its citation. `score` is raw and compared only within one provider; `scores` are there
    where a provider scores in several ways at once, in its own order.
    """

    document_id: str
    title: str
    snippet: str
    audience: Audience
    evidence: Evidence = Evidence.SOURCE_EXCERPT
    revision: str | None = None
    chunk_id: str | None = None
    url: str | None = None
    locale: str | None = None
    score: float | None = None
    scores: tuple[NamedScore, ...] = ()
    freshness: Freshness = Freshness.UNKNOWN
    review_due_at: str | None = None
    translation_group_id: str | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """A citation without text: somewhere to look, not evidence. `library` and `library_version` say what the service
    selected to find it; they do not prove the version of the document itself.
    """

    url: str
    title: str | None = None
    library: str | None = None
    library_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """One provider's answer, parsed. Nothing has been dropped for its audience yet."""

    passages: tuple[Passage, ...] = ()
    discoveries: tuple[Discovery, ...] = ()
    warnings: tuple[Warning_, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of one provider, before that provider's own limits are applied."""

    query: str
    limit: int = 10
    locale: str | None = None
    locale_fallback: str | None = None
    conversation_id: str | None = None  # already withheld from every provider that may not have it
    product: str | None = None
    repository: str | None = None  # owner/name
    version: str | None = None
    freshness: FreshnessWish = FreshnessWish.NORMAL
