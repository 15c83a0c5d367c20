"""Which card each row of a file is about, told as the gateway tells it."""

from __future__ import annotations

import base64

from infra.cli.row_slices import Slice
from shared.domain.card_rows import Row, UnreadableRow
from shared.errors import GatewayError, Invalid
from shared.web.card_rows import read_rows


def cards_of(piece: Slice, collection: str) -> tuple[str | None, ...]:
    """The id of each row's card; None for a row, or all rows, that the gateway will refuse for what they say."""
    event = {
        "headers": {"content-type": piece.media_type},
        "body": base64.b64encode(piece.body).decode(),
        "isBase64Encoded": True,
    }
    try:
        return tuple(_card_of(row, collection) for row in read_rows(event))
    except GatewayError:
        return (None,) * len(piece.rows)


def _card_of(row: Row | UnreadableRow, collection: str) -> str | None:
    try:
        return row.card_in(collection).id
    except Invalid:
        return None
