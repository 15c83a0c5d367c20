"""All that the MCP function reads from its environment."""

from __future__ import annotations

from pydantic import Field

from shared.services.agent_cache import MAX_AGE_S
from shared.settings.cards import CardTable
from shared.settings.front import Front
from shared.settings.internal import InternalStore
from shared.settings.live import LivePools, LocalOrigins
from shared.settings.mcp import McpOrigins
from shared.settings.public import PublicStore


class McpSettings(PublicStore, InternalStore, CardTable, LivePools, LocalOrigins, Front, McpOrigins):
    """What searches, look-ups and acquisitions need together. `agent_cache_s`: how long an agent's answer may be
    remembered; 0 = not at all. It does not start without the two pools that sources are fetched with.
    """

    pool_exa: str = Field(alias="KG_POOL_EXA", min_length=1)
    pool_firecrawl: str = Field(alias="KG_POOL_FIRECRAWL", min_length=1)
    agent_cache_s: float = Field(default=0, ge=0, le=MAX_AGE_S, alias="KG_AGENT_CACHE_S")
