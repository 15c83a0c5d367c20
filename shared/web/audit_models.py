"""The audit on the wire."""

from __future__ import annotations

from pydantic import Field

from shared.domain.audit import AuditEntry, AuditValue
from shared.web.moments import moment
from shared.web.shown import Shown

Value = str | int | bool | tuple[str, ...] | None


class AuditEntryShown(Shown):
    """Who did what to which thing, and when. `before` and `after` hold the fields that differ, never a secret."""

    id: str
    at: str = Field(json_schema_extra={"format": "date-time"})
    actor: str = Field(description="The id of the credential that acted.")
    action: str = Field(examples=["provider.updated"])
    resource: str = Field(examples=["provider/cs_k3j5mq2x7a4bwz6t"])
    generation_before: int | None
    generation_after: int | None
    before: dict[str, Value]
    after: dict[str, Value]

    @classmethod
    def of(cls, entry: AuditEntry) -> AuditEntryShown:
        return cls(
            id=entry.id,
            at=moment(entry.at),
            actor=entry.actor,
            action=entry.action,
            resource=entry.resource,
            generation_before=entry.generation_before,
            generation_after=entry.generation_after,
            before={name: _value(value) for name, value in entry.before.items()},
            after={name: _value(value) for name, value in entry.after.items()},
        )


class AuditPage(Shown):
    """`nextCursor` is null on the last page."""

    entries: tuple[AuditEntryShown, ...]
    next_cursor: str | None


def _value(value: AuditValue) -> Value:
    return tuple(value) if isinstance(value, list) else value
