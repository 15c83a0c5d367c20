"""What agents and admins need beside the public part. The widget's bundle never holds this file."""

from __future__ import annotations

from pydantic import Field

from shared.settings.base import Settings


class InternalStore(Settings):
    registrations_internal: str = Field(alias="KG_TABLE_REGISTRATIONS_INTERNAL")
    ledger_internal: str = Field(alias="KG_TABLE_LEDGER_INTERNAL")
    key_internal: str = Field(alias="KG_KEY_INTERNAL")


class RootAccess(Settings):
    root_secret: str = Field(alias="KG_ROOT_SECRET")
