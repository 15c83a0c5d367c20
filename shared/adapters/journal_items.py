"""How a change of a provider's state is stored: in the provider's own partition, in the order of time."""

from __future__ import annotations

from typing import Final

from shared.adapters.attributes import Item, NewItem, number, number_of, optional, text, text_of
from shared.adapters.keys import EXPIRES_AT, key_of
from shared.adapters.unreadable import readable
from shared.domain.circuits import Lane
from shared.domain.journal import KEPT_FOR_S, Happening, JournalEntry
from shared.domain.outcomes import OutcomeCode

HISTORY: Final = "HISTORY#"
_DIGITS = 17


def moment_of(at: float) -> str:
    """Microseconds: as text they sort as the times do."""
    return f"{round(at * 1_000_000):0{_DIGITS}d}"


def item_of(entry: JournalEntry, *, suffix: str) -> NewItem:
    """`suffix` tells entries of the same moment apart."""
    item: NewItem = {
        **key_of(HISTORY + entry.provider_id, f"{moment_of(entry.at)}#{suffix}"),
        "provider_id": text(entry.provider_id),
        "at": number(entry.at),
        "happening": text(entry.happening),
        "state": text(entry.state),
        EXPIRES_AT: number(int(entry.at + KEPT_FOR_S)),
    }
    texts = {"lane": entry.lane, "code": entry.code}
    item |= {name: text(value) for name, value in texts.items() if value is not None}
    if entry.until is not None:
        item["until"] = number(entry.until)
    return item


def entry_of(item: Item) -> JournalEntry:
    lane, code = optional(item, "lane", text_of), optional(item, "code", text_of)
    return JournalEntry(
        provider_id=text_of(item, "provider_id"),
        at=number_of(item, "at"),
        happening=Happening(text_of(item, "happening")),
        state=text_of(item, "state"),
        lane=None if lane is None else Lane(lane),
        code=None if code is None else OutcomeCode(code),
        until=optional(item, "until", number_of),
    )


readable_entry = readable(entry_of)
