"""The frame of one page of a list."""

from __future__ import annotations

from pydantic import ConfigDict

from shared.web.wire import WireModel


class Shown(WireModel):
    """The base of what admins are shown: every field is there, also when it is null."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class PageShown(Shown):
    """`nextCursor` is null on the last page."""

    next_cursor: str | None = None
