"""Where collections and cards lie."""

from __future__ import annotations

from pydantic import Field

from shared.settings.base import Settings


class CardTable(Settings):
    cards: str = Field(alias="KG_TABLE_CARDS")
