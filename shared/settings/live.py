"""Where the keys of the hosted live services lie, and where those services are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, Json, field_validator, model_validator

from shared.domain.live_configs import ENDPOINTS
from shared.domain.pools import Pool
from shared.domain.registrations import ProviderKind
from shared.domain.urls import checked_origin
from shared.errors import Invalid
from shared.settings.base import Settings
from shared.settings.public import Network


class LivePools(Settings):
    """Which secret holds the numbered keys of each keyed pool that the function may read. The two other services take
    no keys.
    """

    pool_context7: str | None = Field(default=None, alias="KG_POOL_CONTEXT7", min_length=1)
    pool_exa: str | None = Field(default=None, alias="KG_POOL_EXA", min_length=1)
    pool_firecrawl: str | None = Field(default=None, alias="KG_POOL_FIRECRAWL", min_length=1)

    def secret_ids(self) -> dict[Pool, str]:
        """By pool; one that the function may not read is left out."""
        named = {
            Pool.CONTEXT7: self.pool_context7,
            Pool.EXA: self.pool_exa,
            Pool.FIRECRAWL: self.pool_firecrawl,
        }
        return {pool: secret_id for pool, secret_id in named.items() if secret_id is not None}


class LocalOrigins(Network):
    """`Network`, and origins on loopback that stand in for those of the services; for the embedded default alone.

    `KG_LOCAL_ORIGINS` is a JSON object: kind of a live provider -> `http://<loopback host>:<port>`, without a path.
    Where loopback is not allowed the variable may not even be there: the function does not start then.
    """

    local_origins: Json[dict[ProviderKind, str]] = Field(default_factory=dict, alias="KG_LOCAL_ORIGINS")

    def endpoints(self) -> Mapping[ProviderKind, str]:
        """Where each service is asked: at its own endpoint, or under the same path at the origin in its place."""
        moved = {kind: origin + urlsplit(ENDPOINTS[kind]).path for kind, origin in self.local_origins.items()}
        return ENDPOINTS | moved

    @field_validator("local_origins")
    @classmethod
    def _live_kinds_on_loopback(cls, origins: dict[ProviderKind, str]) -> dict[ProviderKind, str]:
        for kind, origin in origins.items():
            if kind not in ENDPOINTS:
                raise ValueError(f"{kind} is not a live service")
            if not _is_plain_loopback(origin):
                raise ValueError(f"the origin of {kind} must be http://, a loopback host and a port, without a path")
        return origins

    @model_validator(mode="after")
    def _where_loopback_is_allowed(self) -> Self:
        if "local_origins" in self.model_fields_set and not self.allow_loopback_http:
            raise ValueError("KG_LOCAL_ORIGINS is for the embedded default alone")
        return self


def _is_plain_loopback(origin: str) -> bool:
    try:
        return origin.startswith("http://") and checked_origin(origin, allow_loopback_http=True) == origin
    except Invalid:
        return False
