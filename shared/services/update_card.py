"""Changes a card."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

from shared.domain.auditing import new_entry
from shared.domain.cards import Card, derived_keys
from shared.domain.changes import Change
from shared.domain.credentials import Principal
from shared.domain.preconditions import check_generation
from shared.ports.card_store import CardStore
from shared.ports.clock import Clock
from shared.services.list_cards import ListCards


class CardChanges(TypedDict, total=False):
    """Only what is to change."""

    keys: tuple[str, ...]
    title: str
    body: str


class UpdateCard:
    def __init__(self, *, store: CardStore, cards: ListCards, clock: Clock) -> None:
        self._store = store
        self._cards = cards
        self._clock = clock

    async def __call__(
        self, collection_id: str, card_id: str, changes: CardChanges, *, expected_generation: int, by: Principal
    ) -> Card:
        """The card as it is now; nothing is written where nothing differs.

        Raises `NotFound`, `PreconditionFailed`, `Invalid`, `Conflict`, `Unavailable`.
        """
        before = await self._cards.one(collection_id, card_id)
        check_generation(before.generation, expected_generation)
        changed = replace(before, **changes)
        if changed.says_the_same_as(before):
            return before
        after = replace(
            changed,
            norm_keys=derived_keys(changed.keys),
            generation=before.generation + 1,
            updated_at=self._clock.now(),
        )
        entry = new_entry(
            at=after.updated_at,
            actor=by.credential_id,
            action="card.updated",
            resource=f"card/{collection_id}/{card_id}",
            generations=(before.generation, after.generation),
        )
        await self._store.replace_card(after, expected_generation=before.generation, change=Change(audit=entry))
        return after
