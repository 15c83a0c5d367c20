"""Makes a collection of cards."""

from __future__ import annotations

from shared.domain.auditing import new_entry
from shared.domain.cards import Collection, new_collection_id
from shared.domain.changes import Change
from shared.domain.credentials import Principal
from shared.domain.exposure import ExposureProfile
from shared.domain.once import Once
from shared.domain.preconditions import existing
from shared.errors import Conflict
from shared.ports.card_store import CardStore
from shared.ports.clock import Clock
from shared.services.replay import Replay

CREATED = 201


class CreateCollection:
    def __init__(self, *, store: CardStore, replay: Replay, clock: Clock) -> None:
        self._store = store
        self._replay = replay
        self._clock = clock

    async def __call__(
        self, name: str, exposure_profile: ExposureProfile, *, by: Principal, once: Once | None
    ) -> Collection:
        """The collection as made, or as it is now where the request is a repetition.

        Raises `Invalid`, `Conflict`, `NotFound`, `Unavailable`.
        """
        if (earlier := await self._replay.find(once)) is not None:
            return await self._repeated(earlier)
        now = self._clock.now()
        made = Collection(
            id=new_collection_id(exposure_profile),
            name=name,
            exposure_profile=exposure_profile,
            created_at=now,
            updated_at=now,
        )
        try:
            await self._store.create_collection(made, self._change(made, by=by, once=once))
        except Conflict:
            # A twin of this very request may have won the race.
            if (earlier := await self._replay.find(once)) is None:
                raise
            return await self._repeated(earlier)
        return made

    async def _repeated(self, collection_id: str) -> Collection:
        return existing(await self._store.collection(collection_id))

    def _change(self, made: Collection, *, by: Principal, once: Once | None) -> Change:
        entry = new_entry(
            at=made.created_at,
            actor=by.credential_id,
            action="collection.created",
            resource=f"collection/{made.id}",
            generations=(None, made.generation),
        )
        record = once.record(status=CREATED, resource_id=made.id, now=made.created_at) if once else None
        return Change(audit=entry, idempotency=record)
