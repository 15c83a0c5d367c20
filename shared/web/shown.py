"""The base of what admins are shown."""

from __future__ import annotations

from pydantic import ConfigDict

from shared.web.wire import AdminModel


class Shown(AdminModel):
    """Every field is there, also when it is null."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)
