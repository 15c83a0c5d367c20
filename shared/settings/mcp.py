"""Which web pages may use the MCP endpoint."""

from __future__ import annotations

from pydantic import Field, field_validator

from shared.domain.origins import comparable_origin
from shared.settings.base import Settings


class McpOrigins(Settings):
    """`KG_MCP_ORIGINS` lists origins of web pages, separated by commas, as browsers send them. Empty: no page may.
    Programs send no origin and need no entry.
    """

    mcp_origins: frozenset[str] = Field(default=frozenset(), alias="KG_MCP_ORIGINS")

    @field_validator("mcp_origins", mode="before")
    @classmethod
    def _separated(cls, given: object) -> object:
        if not isinstance(given, str):
            return given
        return frozenset(part.strip() for part in given.split(",") if part.strip())

    @field_validator("mcp_origins")
    @classmethod
    def _as_browsers_send_them(cls, origins: frozenset[str]) -> frozenset[str]:
        for origin in origins:
            if comparable_origin(origin) != origin:
                raise ValueError("an origin is scheme, host and port in lower case, such as https://app.example.com")
        return origins
