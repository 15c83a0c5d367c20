"""What every function that searches needs. Nothing here names an internal table, key or secret."""

from __future__ import annotations

from pydantic import Field

from shared.settings.base import Settings


class PublicStore(Settings):
    registrations_public: str = Field(alias="KG_TABLE_REGISTRATIONS_PUBLIC")
    ledger_public: str = Field(alias="KG_TABLE_LEDGER_PUBLIC")
    key_public: str = Field(alias="KG_KEY_PUBLIC")


class Network(Settings):
    """`allow_loopback_http` exists for the embedded default alone; the stack never sets it."""

    allow_loopback_http: bool = Field(default=False, alias="KG_ALLOW_LOOPBACK_HTTP")
    private_network_available: bool = Field(default=False, alias="KG_PRIVATE_NETWORK_AVAILABLE")
