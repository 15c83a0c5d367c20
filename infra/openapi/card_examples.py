"""Examples of collections and cards."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

_AT = "2026-09-21T14:13:20.000Z"
_COLLECTION: Json = {
    "id": "csc_k3j5mq2x7a4bwz6t",
    "name": "Ferry words",
    "exposureProfile": "customer_safe",
    "cardCount": 2,
    "generation": 1,
    "createdAt": _AT,
    "updatedAt": _AT,
}
_NEW_CARD: Json = {"keys": ["ferry pass", "渡轮卡"], "title": "Ferry pass", "body": "**89 euro** a month."}
_CARD: Json = {
    "id": "crd_k3j5mq2x7a4bwz6t",
    **_NEW_CARD,
    "normKeys": ["ferry pass", "渡轮卡"],
    "generation": 1,
    "createdAt": _AT,
    "updatedAt": _AT,
}
_SEEN_CARD: Json = {**_CARD, "collectionId": "csc_k3j5mq2x7a4bwz6t"}
_CUSTOMERS_CARD: Json = {"title": "Ferry pass", "body": "**89 euro** a month.", "keys": ["ferry pass", "渡轮卡"]}
CARD_REQUESTS: dict[str, Json] = {
    "LookupBody": {"terms": ["Ferry Pass", "渡轮卡", "cable car"]},
    "MatchBody": {"text": "Is the ferry pass valid at night?", "cap": 5},
    "CollectionCreate": {"name": "Ferry words", "exposureProfile": "customer_safe"},
    "CollectionPatch": {"name": "Words of the ferry"},
    "CardCreate": _NEW_CARD,
    "CardPatch": {"keys": ["ferry pass", "monthly pass", "渡轮卡"]},
}
CARD_ANSWERS: dict[str, Json] = {
    "LookupOut": {
        "results": {"Ferry Pass": [_SEEN_CARD], "渡轮卡": [_SEEN_CARD], "cable car": []},
        "dropped": 0,
    },
    "CustomerLookupOut": {
        "results": {"Ferry Pass": [_CUSTOMERS_CARD], "渡轮卡": [_CUSTOMERS_CARD], "cable car": []},
        "dropped": 0,
    },
    "MatchOut": {"cards": [_SEEN_CARD], "dropped": 0},
    "CustomerMatchOut": {"cards": [_CUSTOMERS_CARD], "dropped": 0},
    "CollectionShown": _COLLECTION,
    "CollectionPage": {"collections": [_COLLECTION], "nextCursor": None},
    "CardShown": _CARD,
    "CardPage": {"cards": [_CARD], "nextCursor": None},
    "ImportReport": {
        "created": 1,
        "updated": 0,
        "unchanged": 0,
        "refused": 1,
        "skipped": 0,
        "rows": [
            {"row": 1, "status": "created", "id": "crd_k3j5mq2x7a4bwz6t", "code": None, "errors": []},
            {
                "row": 2,
                "status": "refused",
                "id": None,
                "code": None,
                "errors": [
                    {"pointer": "/keys/0", "detail": "A key has at least one character that is not white space."}
                ],
            },
        ],
    },
}

# The example of each media type that is no JSON, by name.
TEXTS = {"application/x-ndjson": "CardRows", "text/csv": "CardTable"}
CARD_TEXTS = {
    "CardRows": (
        '{"id": "crd_k3j5mq2x7a4bwz6t", "keys": ["ferry pass", "渡轮卡"], "title": "", "body": "89 euro a month."}\n'
        '{"keys": ["harbour fee"], "body": "4 euro for each traveller."}\n'
    ),
    "CardTable": 'keys,title,body\nferry pass|渡轮卡,Ferry pass,89 euro a month.\nharbour fee,,"4 euro, each."\n',
}
