"""What each live kind can be set to, on the wire. A `config` is always sent and replaced whole."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Final

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from shared.domain.live_configs import (
    MAX_APPROVED,
    MAX_EXA_CHARACTERS,
    MAX_EXA_RESULTS,
    MAX_MINTLIFY_TOKENS,
    MIN_MINTLIFY_TOKENS,
    Context7Config,
    DeepWikiConfig,
    ExaConfig,
    ExaSearchType,
    FirecrawlConfig,
    MintlifyConfig,
    MintlifyEndpoint,
)
from shared.domain.registrations import ProviderConfig
from shared.domain.source_policy import checked_host
from shared.errors import Invalid
from shared.web.search_fields import Product
from shared.web.wire import AdminModel

_NO_NAMES: Final = frozenset({".", ".."})


def _host(text: str) -> str:
    try:
        return checked_host(text, allow_test_names=True)  # where those are not allowed, the registering refuses them
    except Invalid as error:
        raise ValueError(error.detail.removesuffix(".")) from None


def _repository(text: str) -> str:
    if text.partition("/")[2] in _NO_NAMES:
        raise ValueError("Write a repository as `owner/name`")
    return text


def _library(text: str) -> str:
    if not _NO_NAMES.isdisjoint(text.split("/")):
        raise ValueError("Write a library as the service does: `/owner/name`")
    return text


def _once(values: tuple[str, ...]) -> tuple[str, ...]:
    """Without later repetitions; case does not make another one."""
    first = {value.lower(): value for value in reversed(values)}
    return tuple(reversed(first.values()))


Host = Annotated[
    str,
    AfterValidator(_host),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 253, "examples": ["docs.example.com"]}),
]
ApprovedHosts = Annotated[
    tuple[Host, ...],
    Field(
        min_length=1,
        max_length=MAX_APPROVED,
        description="Exact public DNS names. What the service cites or fetches from anywhere else is left out.",
    ),
    AfterValidator(_once),
]
Repository = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$"),
    AfterValidator(_repository),
]
Repositories = Annotated[
    tuple[Repository, ...],
    Field(
        min_length=1,
        max_length=MAX_APPROVED,
        description="Public repositories, `owner/name`. Any other is never named to the service: even a failed "
        "question would tell it the name.",
        examples=[["acme/widgets"]],
    ),
    AfterValidator(_once),
]
Library = Annotated[
    str,
    StringConstraints(pattern=r"^/[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}$"),
    Field(description="The library that is asked whatever a search names, as the service writes it."),
    AfterValidator(_library),
]


class ConfigModel(AdminModel):
    """The settings of one live kind."""

    @abstractmethod
    def known(self) -> ProviderConfig: ...


class Context7ConfigModel(ConfigModel):
    """Without `library`, a search has to name a product or a repository."""

    approved_hosts: ApprovedHosts
    library: Library | None = None

    def known(self) -> Context7Config:
        return Context7Config(**self.model_dump())


class ExaConfigModel(ConfigModel):
    approved_hosts: ApprovedHosts
    search_type: ExaSearchType = ExaSearchType.FAST
    results: int = Field(default=5, ge=1, le=MAX_EXA_RESULTS, description="At most this many are asked for.")
    max_characters: int = Field(
        default=10_000, ge=1, le=MAX_EXA_CHARACTERS, description="Of the text of each document."
    )

    def known(self) -> ExaConfig:
        return ExaConfig(**self.model_dump())


class FirecrawlConfigModel(ConfigModel):
    """It fetches single sources and answers no searches."""

    approved_hosts: ApprovedHosts

    def known(self) -> FirecrawlConfig:
        return FirecrawlConfig(**self.model_dump())


class MintlifyConfigModel(ConfigModel):
    """`product` narrows every question to one product's documentation, unless the search names another."""

    approved_hosts: ApprovedHosts
    endpoint: MintlifyEndpoint = MintlifyEndpoint.MCP
    token_budget: int = Field(default=3_000, ge=MIN_MINTLIFY_TOKENS, le=MAX_MINTLIFY_TOKENS)
    product: Product | None = None

    def known(self) -> MintlifyConfig:
        return MintlifyConfig(**self.model_dump())


class DeepWikiConfigModel(ConfigModel):
    """A sole repository is asked about by default; of several, a search has to name one."""

    repositories: Repositories

    def known(self) -> DeepWikiConfig:
        return DeepWikiConfig(**self.model_dump())
