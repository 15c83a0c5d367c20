"""Fields that providers of every kind have on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from shared.domain.outcomes import OutcomeCode
from shared.domain.registrations import Provider, ProviderStatus
from shared.web.moments import moment
from shared.web.shown import Shown

Module = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$"),
    Field(description="A slug to attribute the provider to a team or product.", examples=["billing"]),
]
Priority = Annotated[int, Field(ge=0, le=1000, description="Lower comes first in a merged answer.")]
# A provider is switched on and off by hand; `auto_disabled` is only ever shown.
Switch = Literal["active", "disabled"]
Status = Annotated[
    ProviderStatus,
    Field(
        description="`auto_disabled`: it is on, and out of use since it refused our credentials, or answered against "
        "its contract, time and again. `status: active`, or a test that passes with `activate: true`, puts it back."
    ),
]
Generation = Annotated[int, Field(description="Grows with every change; the ETag is this number in quotes.")]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Warnings = tuple[Literal["secret_already_shown"], ...]


def warnings_for(secret: str | None) -> Warnings:
    """What stands beside a secret that is shown once."""
    return () if secret else ("secret_already_shown",)


class StatusReasonShown(Shown):
    """Why a provider is `auto_disabled`, and since when."""

    code: OutcomeCode | None
    at: Moment


def status_shown(provider: Provider) -> dict[str, Any]:
    """The fields that say whether it is in use."""
    reason = provider.status_reason if provider.status is ProviderStatus.AUTO_DISABLED else None
    shown = None if reason is None else StatusReasonShown(code=reason.code, at=moment(reason.at))
    return {"status": provider.status, "status_reason": shown}
