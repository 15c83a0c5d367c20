"""Idempotency records as items."""

from __future__ import annotations

import math
from typing import Final

from shared.adapters.attributes import Item, NewItem, number, number_of, text, text_of, whole_of
from shared.adapters.keys import EXPIRES_AT, ONLY, PARTITION_KEY, key_of
from shared.domain.changes import IdempotencyRecord

IDEMPOTENCY: Final = "IDEMPOTENCY#"


def item_of(record: IdempotencyRecord) -> NewItem:
    return {
        **key_of(IDEMPOTENCY + record.key, ONLY),
        "body_hash": text(record.body_hash),
        "status": number(record.status),
        "resource_id": text(record.resource_id),
        "valid_until": number(record.expires_at),
        EXPIRES_AT: number(math.ceil(record.expires_at)),
    }


def record_of(item: Item) -> IdempotencyRecord:
    return IdempotencyRecord(
        key=text_of(item, PARTITION_KEY).removeprefix(IDEMPOTENCY),
        body_hash=text_of(item, "body_hash"),
        status=whole_of(item, "status"),
        resource_id=text_of(item, "resource_id"),
        expires_at=number_of(item, "valid_until"),
    )
