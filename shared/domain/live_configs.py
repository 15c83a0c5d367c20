"""What each hosted live service can be set to, and where it is.

Source policy: `approved_hosts` are exact public DNS names; what a service cites or fetches from anywhere else is left
out. A repository that is not listed is never named to DeepWiki: even a failed question would tell it the name.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.domain.registrations import ProviderConfig, ProviderKind

MAX_APPROVED: Final = 100
MAX_MINTLIFY_TOKENS: Final = 6_000
MIN_MINTLIFY_TOKENS: Final = 500
MAX_EXA_RESULTS: Final = 10
MAX_EXA_CHARACTERS: Final = 100_000


class ExaSearchType(StrEnum):
    INSTANT = "instant"
    FAST = "fast"
    AUTO = "auto"


class MintlifyEndpoint(StrEnum):
    """Both are documented by the service and both answer."""

    MCP = "mcp"
    ROOT = "root"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePolicy(ProviderConfig):
    """`approved_hosts`: lower-case DNS names, 1 to `MAX_APPROVED`, without duplicates."""

    approved_hosts: tuple[str, ...]

    def approves(self, host: str) -> bool:
        return host in self.approved_hosts


@dataclass(frozen=True, slots=True, kw_only=True)
class Context7Config(SourcePolicy):
    """`library` is asked whatever the search names: an id as the service writes it, `/owner/name`."""

    library: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaConfig(SourcePolicy):
    """`max_characters` of text are asked for of each document."""

    search_type: ExaSearchType = ExaSearchType.FAST
    results: int = 5
    max_characters: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FirecrawlConfig(SourcePolicy):
    """Fetches single sources; it answers no searches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MintlifyConfig(SourcePolicy):
    """`product` narrows every question to one product's documentation unless the search names another."""

    endpoint: MintlifyEndpoint = MintlifyEndpoint.MCP
    token_budget: int = 3_000
    product: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepWikiConfig(ProviderConfig):
    """`repositories` are public ones, `owner/name`, 1 to `MAX_APPROVED`. A sole one is asked about by default."""

    repositories: tuple[str, ...]


# Where each service is, and nowhere else: a registration cannot say otherwise.
ENDPOINTS: Final = {
    ProviderKind.CONTEXT7: "https://context7.com/api",
    ProviderKind.EXA: "https://api.exa.ai",
    ProviderKind.FIRECRAWL: "https://api.firecrawl.dev/v2",
    ProviderKind.MINTLIFY: "https://index.mintlify.com",
    ProviderKind.DEEPWIKI: "https://mcp.deepwiki.com",
}
CONFIG_OF: Final[dict[ProviderKind, type[ProviderConfig]]] = {
    ProviderKind.CONTEXT7: Context7Config,
    ProviderKind.EXA: ExaConfig,
    ProviderKind.FIRECRAWL: FirecrawlConfig,
    ProviderKind.MINTLIFY: MintlifyConfig,
    ProviderKind.DEEPWIKI: DeepWikiConfig,
}
SEARCHING_KINDS: Final = frozenset(ENDPOINTS) - {ProviderKind.FIRECRAWL}
ACQUIRING_KINDS: Final = frozenset({ProviderKind.EXA, ProviderKind.FIRECRAWL})
