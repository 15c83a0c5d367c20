"""Testing a provider of a live kind, on the wire: one real operation, which counts for the pool's allowance."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from shared.domain.acquisitions import Acquired, Acquisition, Wanted
from shared.domain.outcomes import OutcomeCode, OutcomeStatus
from shared.domain.passages import Discovery, Evidence, Question, Warning_
from shared.domain.registrations import SERVER_KINDS, ProviderKind
from shared.domain.source_policy import requested_url
from shared.domain.urls import MAX_URL_CHARACTERS
from shared.web.events import Event
from shared.web.provider_models import ProviderShown
from shared.web.provider_test_models import Activate, ActivationLost, PassageShown, ProviderTest
from shared.web.search_fields import Product, Repository, Version
from shared.web.shown import Shown
from shared.web.wire import AdminModel, read_body

SHOWN_CHARACTERS: Final = 2_000


class Context7Test(ProviderTest):
    """Context7 is asked about a library: `product` or `repository` says which, unless the config does."""

    product: Product | None = None
    repository: Repository | None = None
    version: Version | None = None

    def wanted(self) -> Question:
        return Question(query=self.query, product=self.product, repository=self.repository, version=self.version)


class MintlifyTest(ProviderTest):
    product: Product | None = None

    def wanted(self) -> Question:
        return Question(query=self.query, product=self.product)


class DeepWikiTest(ProviderTest):
    """`repository` is one of those that the config lists."""

    repository: Repository | None = None

    def wanted(self) -> Question:
        return Question(query=self.query, repository=self.repository)


class FirecrawlTest(AdminModel):
    """Firecrawl answers no searches: it is tested by fetching one source of an approved host."""

    url: str = Field(min_length=1, max_length=MAX_URL_CHARACTERS, examples=["https://docs.example.com/widgets"])
    activate: Activate = False

    def wanted(self) -> Wanted:
        """Raises `Invalid` (`invalid_source_url`)."""
        return Wanted(url=requested_url(self.url))


AnyTest: TypeAlias = ProviderTest | FirecrawlTest
_TESTS: Final[dict[ProviderKind, type[AnyTest]]] = {
    ProviderKind.CONTRACT: ProviderTest,
    ProviderKind.EXA: ProviderTest,
    ProviderKind.CONTEXT7: Context7Test,
    ProviderKind.MINTLIFY: MintlifyTest,
    ProviderKind.DEEPWIKI: DeepWikiTest,
    ProviderKind.FIRECRAWL: FirecrawlTest,
    **dict.fromkeys(SERVER_KINDS, ProviderTest),
}


def read_test(event: Event, kind: ProviderKind) -> AnyTest:
    """`kind` is the provider's own. Raises `BadRequest`, `Invalid`."""
    return read_body(_TESTS[kind], event)


class FoundShown(Shown):
    """A citation without text: somewhere to look, not evidence."""

    url: str
    title: str | None
    library: str | None
    library_version: str | None

    @classmethod
    def of(cls, discovery: Discovery) -> FoundShown:
        return cls(
            url=discovery.url,
            title=discovery.title,
            library=discovery.library,
            library_version=discovery.library_version,
        )


class FetchedShown(Shown):
    """A fetched source, and how its text begins."""

    url: str
    final_url: str
    title: str | None
    text: str = Field(max_length=SHOWN_CHARACTERS)
    characters: int = Field(description="How long the text is that an agent would get.")
    evidence: Evidence
    acquisition: Acquisition

    @classmethod
    def of(cls, acquired: Acquired) -> FetchedShown:
        return cls(
            url=acquired.url,
            final_url=acquired.final_url,
            title=acquired.title,
            text=acquired.text[:SHOWN_CHARACTERS],
            characters=len(acquired.text),
            evidence=acquired.evidence,
            acquisition=acquired.acquisition,
        )


class LiveConditions(Shown):
    """What the service was asked under in this one call."""

    timeout_ms: int
    limit: int


class LiveTestShown(Shown):
    """`status` is success, empty or failed. `explanation` says in words what `errorCode` means and what to do; nothing
    that the service said is repeated, and no key is shown.
    """

    status: OutcomeStatus
    error_code: OutcomeCode | Literal["source_not_approved"] | None
    explanation: str | None
    retry_at: Annotated[str, Field(json_schema_extra={"format": "date-time"})] | None
    duration_ms: int
    result_count: int
    results: tuple[PassageShown, ...]
    discoveries: tuple[FoundShown, ...]
    fetched: FetchedShown | None
    warnings: tuple[Warning_ | ActivationLost, ...] = Field(
        description="What was noticed. `activation_lost`: it answered, and this test has not turned it on: it was "
        "changed or removed while the test ran; `provider` is as it was tested. Read it again, then test it again."
    )
    activated: bool = Field(description="Whether this test has turned it on.")
    effective: LiveConditions
    provider: ProviderShown
