"""The pools: one for each hosted live service, with its allowance and, where the service wants keys, those."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from shared.domain.registrations import ProviderKind


class Pool(StrEnum):
    CONTEXT7 = "context7"
    EXA = "exa"
    FIRECRAWL = "firecrawl"  # scraping and Alexandria share it
    MINTLIFY = "mintlify"
    DEEPWIKI = "deepwiki"


POOL_OF: Final = {
    ProviderKind.CONTEXT7: Pool.CONTEXT7,
    ProviderKind.EXA: Pool.EXA,
    ProviderKind.FIRECRAWL: Pool.FIRECRAWL,
    ProviderKind.MINTLIFY: Pool.MINTLIFY,
    ProviderKind.DEEPWIKI: Pool.DEEPWIKI,
}
# The base name of each keyed pool's keys: NAME first, then NAME_1, NAME_2 and so on.
KEY_NAME: Final = {
    Pool.CONTEXT7: "CONTEXT7_API_KEY",
    Pool.EXA: "EXA_API_KEY",
    Pool.FIRECRAWL: "FIRECRAWL_API_KEY",
}
KEYED_POOLS: Final = tuple(KEY_NAME)
