"""What agents and admins need beside the public part. The widget's bundle never holds this file."""

from __future__ import annotations

from pydantic import Field

from shared.settings.base import Settings


class CallerStore(Settings):
    """What admits a caller: the credentials, and the counts of requests."""

    registrations_internal: str = Field(alias="KG_TABLE_REGISTRATIONS_INTERNAL")
    ledger_internal: str = Field(alias="KG_TABLE_LEDGER_INTERNAL")


class InternalStore(CallerStore):
    key_internal: str = Field(alias="KG_KEY_INTERNAL")


class RootAccess(Settings):
    root_secret: str = Field(alias="KG_ROOT_SECRET")
