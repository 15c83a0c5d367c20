"""Fields that providers of every kind have on the wire."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

Module = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$"),
    Field(description="A slug to attribute the provider to a team or product.", examples=["billing"]),
]
Priority = Annotated[int, Field(ge=0, le=1000, description="Lower comes first in a merged answer.")]
# A provider is switched on and off by hand; `auto_disabled` is only ever shown.
Switch = Literal["active", "disabled"]
Generation = Annotated[int, Field(description="Grows with every change; the ETag is this number in quotes.")]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Warnings = tuple[Literal["secret_already_shown"], ...]


def warnings_for(secret: str | None) -> Warnings:
    """What stands beside a secret that is shown once."""
    return () if secret else ("secret_already_shown",)
