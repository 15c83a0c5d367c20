"""Lines of the audit as items."""

from __future__ import annotations

import json
import math
from typing import Final

from shared.adapters.attributes import Item, NewItem, number, number_of, optional, text, text_of, whole_of
from shared.adapters.keys import EXPIRES_AT, SORT_KEY, key_of
from shared.domain.audit import AUDIT_RETENTION_S, AuditEntry

AUDIT: Final = "AUDIT"


def item_of(entry: AuditEntry) -> NewItem:
    item = {
        **key_of(AUDIT, entry.id),
        "at": number(entry.at),
        "actor": text(entry.actor),
        "action": text(entry.action),
        "resource": text(entry.resource),
        "before": text(json.dumps(entry.before, ensure_ascii=False)),
        "after": text(json.dumps(entry.after, ensure_ascii=False)),
        EXPIRES_AT: number(math.ceil(entry.at + AUDIT_RETENTION_S)),
    }
    if entry.generation_before is not None:
        item["generation_before"] = number(entry.generation_before)
    if entry.generation_after is not None:
        item["generation_after"] = number(entry.generation_after)
    return item


def entry_of(item: Item) -> AuditEntry:
    return AuditEntry(
        id=text_of(item, SORT_KEY),
        at=number_of(item, "at"),
        actor=text_of(item, "actor"),
        action=text_of(item, "action"),
        resource=text_of(item, "resource"),
        generation_before=optional(item, "generation_before", whole_of),
        generation_after=optional(item, "generation_after", whole_of),
        before=json.loads(text_of(item, "before")),
        after=json.loads(text_of(item, "after")),
    )
