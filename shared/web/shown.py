"""The base of what admins are shown."""

from __future__ import annotations

from pydantic import ConfigDict

from shared.web.wire import WireModel


class Shown(WireModel):
    """Every field is there, also when it is null."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)
