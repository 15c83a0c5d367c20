"""Whether a distribution stands in front of the API."""

from __future__ import annotations

from pydantic import Field

from shared.settings.base import Settings


class Front(Settings):
    """With `front_required` a function refuses whatever did not come through the distribution."""

    front_required: bool = Field(default=False, alias="KG_FRONT_REQUIRED")
