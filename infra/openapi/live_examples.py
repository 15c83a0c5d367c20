"""Examples of single operations at hosted live services."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

_URL = "https://docs.example.com/ferries/passes"
LIVE_REQUESTS: dict[str, Json] = {
    "AcquireBody": {"url": _URL, "freshness": "fresh", "deadlineMs": 20_000},
}
LIVE_ANSWERS: dict[str, Json] = {
    "AcquiredOut": {
        "requestId": "JKJaXmPLvHcESHA=",
        "provider": {"id": "ao_k3j5mq2x7a4bwz6t", "name": "Ferry docs", "kind": "firecrawl"},
        "url": _URL,
        "finalUrl": _URL,
        "title": "Ferry passes",
        "text": "# Ferry passes\n\nA pass is valid on every night ferry.",
        "truncated": False,
        "evidence": "source_excerpt",
        "acquisition": "cached_or_unknown",
        "warnings": ["not_fresh"],
    },
}
