"""Rows of an import: what each says, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from shared.domain.cards import Card, card_id_of_row, derived_keys, is_card_id, norm
from shared.errors import Invalid, Violation

MAX_ROWS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`number` counts from 1. `row_id` is a card's id, or the sender's own name for the row."""

    number: int
    row_id: str | None
    keys: tuple[str, ...]
    title: str
    body: str

    def card_in(self, collection_id: str) -> Card:
        """The card that the row describes. Raises `Invalid` as `derived_keys` does."""
        derived = derived_keys(self.keys)
        return Card(
            id=self._card_id(collection_id, derived),
            collection_id=collection_id,
            keys=self.keys,
            title=self.title,
            body=self.body,
            norm_keys=derived,
        )

    def _card_id(self, collection_id: str, derived: Sequence[str]) -> str:
        if self.row_id is not None:
            return self.row_id if is_card_id(self.row_id) else card_id_of_row(collection_id, f"id\0{self.row_id}")
        # Written so that no title can be taken for keys.
        return card_id_of_row(collection_id, f"about\0{json.dumps([norm(self.title), *derived])}")


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """A row that is not one."""

    number: int
    violations: tuple[Violation, ...]

    def card_in(self, _collection_id: str) -> Card:
        """Raises `Invalid`, always."""
        raise Invalid(violations=self.violations)


class RowStatus(StrEnum):
    """`skipped`: there was no time for it; nothing is wrong with it."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOutcome:
    """`card_id` is None for a refused row. `code` is the problem's, where the row itself is in order."""

    number: int
    status: RowStatus
    card_id: str | None = None
    code: str | None = None
    violations: tuple[Violation, ...] = ()


def refused(number: int, *violations: Violation, code: str | None = None) -> RowOutcome:
    return RowOutcome(number=number, status=RowStatus.REFUSED, code=code, violations=violations)
