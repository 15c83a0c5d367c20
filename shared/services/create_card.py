"""Adds a card to a collection."""

from __future__ import annotations

from dataclasses import dataclass

from shared.domain.auditing import new_entry
from shared.domain.cards import Card, derived_keys, new_card_id
from shared.domain.changes import Change
from shared.domain.credentials import Principal
from shared.domain.once import Once
from shared.domain.preconditions import existing
from shared.errors import Conflict
from shared.ports.card_store import CardStore
from shared.ports.clock import Clock
from shared.services.replay import Replay

CREATED = 201


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCard:
    """What an operator says about a card that is to be added."""

    keys: tuple[str, ...]
    title: str
    body: str


class CreateCard:
    def __init__(self, *, store: CardStore, replay: Replay, clock: Clock) -> None:
        self._store = store
        self._replay = replay
        self._clock = clock

    async def __call__(self, collection_id: str, wanted: NewCard, *, by: Principal, once: Once | None) -> Card:
        """The card as made, or as it is now where the request is a repetition.

        Raises `NotFound`, `Invalid`, `Conflict`, `Unavailable`.
        """
        existing(await self._store.collection(collection_id))
        if (earlier := await self._replay.find(once)) is not None:
            return await self._repeated(collection_id, earlier)
        made = self._card(collection_id, wanted)
        try:
            await self._store.create_card(made, self._change(made, by=by, once=once))
        except Conflict:
            # A twin of this very request may have won the race.
            if (earlier := await self._replay.find(once)) is None:
                raise
            return await self._repeated(collection_id, earlier)
        return made

    async def _repeated(self, collection_id: str, card_id: str) -> Card:
        return existing(await self._store.card(collection_id, card_id))

    def _card(self, collection_id: str, wanted: NewCard) -> Card:
        now = self._clock.now()
        return Card(
            id=new_card_id(),
            collection_id=collection_id,
            keys=wanted.keys,
            title=wanted.title,
            body=wanted.body,
            norm_keys=derived_keys(wanted.keys),
            created_at=now,
            updated_at=now,
        )

    def _change(self, made: Card, *, by: Principal, once: Once | None) -> Change:
        entry = new_entry(
            at=made.created_at,
            actor=by.credential_id,
            action="card.created",
            resource=f"card/{made.collection_id}/{made.id}",
            generations=(None, made.generation),
        )
        record = once.record(status=CREATED, resource_id=made.id, now=made.created_at) if once else None
        return Change(audit=entry, idempotency=record)
