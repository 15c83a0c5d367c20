"""Adds and changes many cards at once, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shared.domain.auditing import NOTHING, Facts, new_entry
from shared.domain.card_rows import Row, RowOutcome, RowStatus, UnreadableRow, refused
from shared.domain.cards import Card
from shared.domain.changes import Change
from shared.domain.credentials import Principal
from shared.domain.preconditions import existing
from shared.errors import Conflict, Invalid, Violation
from shared.ports.card_store import CardStore, ImportLease
from shared.ports.clock import Clock

# A function has 29 s. What was not reached by then is reported as such, so that nobody has to guess.
_BUDGET_S = 20.0
_LEASE_S = 30.0
_ABOUT_THE_ROW = frozenset({"key_full", "collection_full", "busy"})

_Described = tuple[int, Card]


class ImportCards:
    """Each row is written whole or not at all; one that cannot be written keeps no other from being written."""

    def __init__(self, *, store: CardStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def __call__(
        self, collection_id: str, rows: Sequence[Row | UnreadableRow], *, by: Principal
    ) -> tuple[RowOutcome, ...]:
        """What became of each row, in their order. Nothing is written where nothing differs.

        Raises `NotFound`, `Conflict` (`import_running`, `import_ended`), `Unavailable`; what was written before stays.
        """
        until = self._clock.monotonic() + _BUDGET_S
        existing(await self._store.collection(collection_id))
        outcomes, described = _described(rows, collection_id)
        there = await self._store.cards_with(collection_id, [card.id for _, card in described])
        to_write = []
        for number, card in described:
            if (known := there.get(card.id)) is not None and known.says_the_same_as(card):
                outcomes.append(RowOutcome(number=number, status=RowStatus.UNCHANGED, card_id=card.id))
            else:
                to_write.append((number, card))
        if to_write:
            outcomes += await self._written(collection_id, to_write, until=until, by=by)
        return tuple(sorted(outcomes, key=lambda outcome: outcome.number))

    async def _written(
        self, collection_id: str, cards: Sequence[_Described], *, until: float, by: Principal
    ) -> list[RowOutcome]:
        begun = self._change("cards.import_begun", collection_id, by=by)
        lease = await self._store.begin_import(collection_id, lease_s=_LEASE_S, change=begun)
        outcomes = []
        for number, card in cards:
            if self._clock.monotonic() < until:
                outcomes.append(await self._row(lease, number, card))
            else:
                outcomes.append(RowOutcome(number=number, status=RowStatus.SKIPPED, card_id=card.id))
        ended = self._change("cards.imported", collection_id, by=by, after=_counts(outcomes))
        await self._store.end_import(lease, ended)
        return outcomes

    async def _row(self, lease: ImportLease, number: int, card: Card) -> RowOutcome:
        try:
            upserted = await self._store.upsert(lease, card)
        except Conflict as conflict:
            if conflict.code not in _ABOUT_THE_ROW:
                raise
            return refused(number, Violation("/keys", conflict.detail), code=conflict.code)
        return RowOutcome(number=number, status=RowStatus(upserted.value), card_id=card.id)

    def _change(self, action: str, collection_id: str, *, by: Principal, after: Facts = NOTHING) -> Change:
        entry = new_entry(
            at=self._clock.now(),
            actor=by.credential_id,
            action=action,
            resource=f"collection/{collection_id}",
            after=after,
        )
        return Change(audit=entry)


def _counts(outcomes: Iterable[RowOutcome]) -> Facts:
    statuses = [outcome.status for outcome in outcomes]
    return {
        "cardsCreated": statuses.count(RowStatus.CREATED),
        "cardsUpdated": statuses.count(RowStatus.UPDATED),
    }


def _described(rows: Sequence[Row | UnreadableRow], collection_id: str) -> tuple[list[RowOutcome], list[_Described]]:
    """The rows that are refused for what they say, and the cards that the others describe.

    Two rows about one card would undo each other whenever they are sent again: the first one counts.
    """
    outcomes: list[RowOutcome] = []
    first: dict[str, tuple[int, Card]] = {}
    for row in rows:
        try:
            card = row.card_in(collection_id)
        except Invalid as invalid:
            outcomes.append(refused(row.number, *invalid.violations))
            continue
        if card.id in first:
            outcomes.append(refused(row.number, Violation("", f"Row {first[card.id][0]} is about the same card.")))
        else:
            first[card.id] = (row.number, card)
    return outcomes, list(first.values())
