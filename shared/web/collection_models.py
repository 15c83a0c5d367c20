"""Collections on the wire: what admins send and what they are shown."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from shared.domain.cards import Collection
from shared.domain.exposure import ExposureProfile
from shared.web.fields import Fixed, Name, unset
from shared.web.moments import moment
from shared.web.shown import Shown
from shared.web.wire import AdminModel


class CollectionCreate(AdminModel):
    """A collection to be made. It is empty at first."""

    name: Name
    exposure_profile: ExposureProfile = Field(description="How far its cards may travel. Fixed for ever.")


class CollectionPatch(AdminModel):
    """What is to change; everything left out stays."""

    name: Name = Field(default_factory=unset)
    exposure_profile: Fixed

    def changes(self) -> dict[str, Any]:
        """The fields that were sent, by their Python names."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class CollectionShown(Shown):
    id: str = Field(examples=["csc_k3j5mq2x7a4bwz6t"])
    name: str
    exposure_profile: ExposureProfile
    card_count: int
    generation: int = Field(description="Grows with every change of the collection itself; the ETag is this number.")
    created_at: str = Field(json_schema_extra={"format": "date-time"})
    updated_at: str = Field(json_schema_extra={"format": "date-time"})

    @classmethod
    def of(cls, collection: Collection) -> CollectionShown:
        return cls(
            id=collection.id,
            name=collection.name,
            exposure_profile=collection.exposure_profile,
            card_count=collection.card_count,
            generation=collection.generation,
            created_at=moment(collection.created_at),
            updated_at=moment(collection.updated_at),
        )


class CollectionPage(Shown):
    """`nextCursor` is null on the last page."""

    collections: tuple[CollectionShown, ...]
    next_cursor: str | None
