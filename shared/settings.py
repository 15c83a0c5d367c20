"""Settings of a function, read from its environment once, when it starts. Each function takes the parts it needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    """A frozen set whose aliases are environment variables. Raises `ValidationError` naming what is missing."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        return cls.model_validate(dict(environment))


class PublicStore(Settings):
    """What the customer lane needs: nothing here names an internal table, key or secret."""

    registrations_public: str = Field(alias="KG_TABLE_REGISTRATIONS_PUBLIC")
    ledger_public: str = Field(alias="KG_TABLE_LEDGER_PUBLIC")
    key_public: str = Field(alias="KG_KEY_PUBLIC")


class InternalStore(Settings):
    """What agents and admins need beside it."""

    registrations_internal: str = Field(alias="KG_TABLE_REGISTRATIONS_INTERNAL")
    ledger_internal: str = Field(alias="KG_TABLE_LEDGER_INTERNAL")
    key_internal: str = Field(alias="KG_KEY_INTERNAL")


class Network(Settings):
    """`allow_loopback_http` exists for the embedded default alone; the stack never sets it."""

    allow_loopback_http: bool = Field(default=False, alias="KG_ALLOW_LOOPBACK_HTTP")
    private_network_available: bool = Field(default=False, alias="KG_PRIVATE_NETWORK_AVAILABLE")


class RootAccess(Settings):
    root_secret: str = Field(alias="KG_ROOT_SECRET")
