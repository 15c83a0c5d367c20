"""Testing a provider that speaks the contract, and reading its capabilities again, on the wire."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field
from pydantic.alias_generators import to_camel

from shared.domain.exposure import Audience
from shared.domain.outcomes import OutcomeCode, OutcomeStatus
from shared.domain.passages import Evidence, Freshness, Passage, Question, Warning_
from shared.web.contract_provider_models import CapabilitiesModel, ContractShown
from shared.web.outcome_words import explanation_of
from shared.web.search_fields import SentText
from shared.web.shown import Shown
from shared.web.wire import AdminModel

ActivationLost = Literal["activation_lost"]
TestQuery = Annotated[str, Field(min_length=1, max_length=4000, examples=["night ferry"]), SentText]
Activate = Annotated[bool, Field(description="Turn the provider on when it answers.")]


class ProviderTest(AdminModel):
    """One question, asked for real. It counts for no circuit and touches no cache."""

    query: TestQuery
    activate: Activate = False

    def wanted(self) -> Question:
        return Question(query=self.query)


class PassageShown(Shown):
    """A passage as an agent would see it, with the audience that the provider gave it."""

    document_id: str
    title: str
    snippet: str
    audience: Audience
    evidence: Evidence
    revision: str | None
    chunk_id: str | None
    url: str | None
    locale: str | None
    provider_score: float | None
    freshness: Freshness
    review_due_at: str | None
    translation_group_id: str | None
    truncated: bool

    @classmethod
    def of(cls, passage: Passage) -> PassageShown:
        return cls(
            document_id=passage.document_id,
            title=passage.title,
            snippet=passage.snippet,
            audience=passage.audience,
            evidence=passage.evidence,
            revision=passage.revision,
            chunk_id=passage.chunk_id,
            url=passage.url,
            locale=passage.locale,
            provider_score=passage.score,
            freshness=passage.freshness,
            review_due_at=passage.review_due_at,
            translation_group_id=passage.translation_group_id,
            truncated=passage.truncated,
        )


class DropShown(Shown):
    """A passage that came back and would be shown to nobody."""

    document_id: str
    title: str
    audience: Audience
    reason: Literal[Warning_.INTERNAL_DROPPED]

    @classmethod
    def of(cls, passage: Passage) -> DropShown:
        return cls(
            document_id=passage.document_id,
            title=passage.title,
            audience=passage.audience,
            reason=Warning_.INTERNAL_DROPPED,
        )


class EffectiveConfig(Shown):
    """What the provider was asked under in this one call."""

    base_url: str
    contract_version: int
    capabilities: CapabilitiesModel
    allow_private_network: bool
    timeout_ms: int
    limit: int
    signatures: int = Field(description="2 inside a rotation window, else 1.")


class ProviderTestShown(Shown):
    """`status` is success, empty or failed. `explanation` says in words what `errorCode` means and what to do; nothing
    that the provider said is repeated.
    """

    status: OutcomeStatus
    error_code: OutcomeCode | None
    explanation: str | None
    duration_ms: int
    result_count: int
    results: tuple[PassageShown, ...]
    dropped: tuple[DropShown, ...]
    warnings: tuple[Warning_ | ActivationLost, ...] = Field(
        description="What was noticed. `activation_lost`: it answered, and this test has not turned it on: it was "
        "changed or removed while the test ran; `provider` is as it was tested. Read it again, then test it again."
    )
    activated: bool = Field(description="Whether this test has turned it on.")
    effective: EffectiveConfig
    provider: ContractShown


class CapabilitiesShown(Shown):
    """`listed` is false where the provider has no such page: everything counts as false then."""

    status: OutcomeStatus
    error_code: OutcomeCode | None
    explanation: str | None
    listed: bool
    changed: tuple[str, ...] = Field(description="The capabilities that are now declared otherwise, by wire name.")
    provider: ContractShown


def explained(code: OutcomeCode | None) -> str | None:
    return None if code is None else explanation_of(code)


def passages_shown(passages: Sequence[Passage]) -> tuple[PassageShown, ...]:
    return tuple(PassageShown.of(each) for each in passages)


def drops_shown(passages: Sequence[Passage]) -> tuple[DropShown, ...]:
    return tuple(DropShown.of(each) for each in passages)


def wire_names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(to_camel(name) for name in names)
