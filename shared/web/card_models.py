"""Cards on the wire: what admins send and what they are shown."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from shared.domain.card_rows import RowOutcome, RowStatus
from shared.domain.cards import MAX_BODY_BYTES, MAX_KEY_CHARACTERS, MAX_KEYS, MAX_TITLE_CHARACTERS, Card
from shared.web.fields import unset
from shared.web.moments import moment
from shared.web.shown import Shown
from shared.web.wire import AdminModel


def _short_enough(body: str) -> str:
    if len(body.encode()) > MAX_BODY_BYTES:
        raise ValueError(f"A body has at most {MAX_BODY_BYTES} bytes in UTF-8")
    return body


def _printable(text: str) -> str:
    """White space of any kind is welcome: it is compared as one space."""
    if any(unicodedata.category(character) == "Cc" and not character.isspace() for character in text):
        raise ValueError("Control characters other than white space are not allowed")
    return text


def _not_blank(row_id: str) -> str:
    if not row_id.strip():
        raise ValueError("An id has at least one character that is not white space")
    return row_id


def _at_least_one(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Not left to the length of the field, which would blame the list for a wrong key too."""
    if not keys:
        raise ValueError("A card has at least one key")
    return keys


Key = Annotated[str, StringConstraints(min_length=1, max_length=MAX_KEY_CHARACTERS), AfterValidator(_printable)]
Keys = Annotated[
    tuple[Key, ...],
    AfterValidator(_at_least_one),
    Field(
        max_length=MAX_KEYS,
        description="The words and names that the card is found under; upper and lower case, width and white space do "
        "not count. Without control characters other than white space.",
        examples=[["ferry pass", "渡轮卡"]],
        json_schema_extra={"minItems": 1},
    ),
]
Title = Annotated[
    str,
    AfterValidator(_printable),
    Field(
        max_length=MAX_TITLE_CHARACTERS,
        description="Empty: the first key is shown. Without control characters other than white space.",
    ),
]
Body = Annotated[
    str,
    AfterValidator(_short_enough),
    Field(
        description=f"Markdown, up to {MAX_BODY_BYTES} bytes in UTF-8.", json_schema_extra={"maxLength": MAX_BODY_BYTES}
    ),
]


class CardCreate(AdminModel):
    """A card to be added."""

    keys: Keys
    title: Title = ""
    body: Body


class CardPatch(AdminModel):
    """What is to change; everything left out stays. `keys` replaces all of them."""

    keys: Keys = Field(default_factory=unset)
    title: Title = Field(default_factory=unset)
    body: Body = Field(default_factory=unset)

    def changes(self) -> dict[str, Any]:
        """The fields that were sent, by their Python names."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class CardShown(Shown):
    id: str = Field(examples=["crd_k3j5mq2x7a4bwz6t"])
    keys: tuple[str, ...]
    title: str
    body: str
    norm_keys: tuple[str, ...] = Field(description="The keys as they are compared, ascending.")
    generation: int = Field(description="Grows with every change; the ETag is this number in quotes.")
    created_at: str = Field(json_schema_extra={"format": "date-time"})
    updated_at: str = Field(json_schema_extra={"format": "date-time"})

    @classmethod
    def of(cls, card: Card) -> CardShown:
        return cls(
            id=card.id,
            keys=card.keys,
            title=card.title,
            body=card.body,
            norm_keys=card.norm_keys,
            generation=card.generation,
            created_at=moment(card.created_at),
            updated_at=moment(card.updated_at),
        )

    def text(self) -> str:
        """As it goes over the wire."""
        return self.model_dump_json(by_alias=True)


class CardPage(Shown):
    """`nextCursor` is null on the last page."""

    cards: tuple[CardShown, ...]
    next_cursor: str | None


class CardRow(AdminModel):
    """One line of an export; `id`, `keys`, `title` and `body` are what an import reads."""

    id: Annotated[str, Field(min_length=1, max_length=128), AfterValidator(_not_blank)] | None = None
    keys: Keys
    title: Title = ""
    body: Body

    @classmethod
    def line_of(cls, card: Card) -> str:
        # Not judged once more: what is stored is shown, also where the rules were others when it was written.
        row = cls.model_construct(id=card.id, keys=card.keys, title=card.title, body=card.body)
        return row.model_dump_json(by_alias=True) + "\n"


class RowFault(Shown):
    pointer: str = Field(description="A JSON pointer into the row; empty for the row as a whole.")
    detail: str


class RowShown(Shown):
    """What became of one row. `errors` says why it was refused; `code` is set where the row itself is in order."""

    row: int = Field(description="Counts from 1; empty lines and the header of a table are not counted.")
    status: RowStatus
    id: str | None = Field(description="The card's id; null for a refused row.")
    code: str | None
    errors: tuple[RowFault, ...]

    @classmethod
    def of(cls, outcome: RowOutcome) -> RowShown:
        return cls(
            row=outcome.number,
            status=outcome.status,
            id=outcome.card_id,
            code=outcome.code,
            errors=tuple(RowFault(pointer=each.pointer, detail=each.detail) for each in outcome.violations),
        )


class ImportReport(Shown):
    """`skipped` rows were not reached in time: send them again."""

    created: int
    updated: int
    unchanged: int
    refused: int
    skipped: int
    rows: tuple[RowShown, ...]

    @classmethod
    def of(cls, outcomes: tuple[RowOutcome, ...]) -> ImportReport:
        counts = {status.value: sum(each.status is status for each in outcomes) for status in RowStatus}
        return cls(**counts, rows=tuple(RowShown.of(each) for each in outcomes))
