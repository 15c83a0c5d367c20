"""`kgw cards export` and `kgw cards lookup`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from infra.cli import texts
from infra.cli.access import client_as
from infra.cli.http import Received

_LINK = ("<?", '>; rel="next"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    terms: Sequence[str]
    collection: str
    as_json: bool


def export_cards(collection: str) -> int:
    """Prints every card as one line of JSON. Raises `NoAccess`, `Declined`, `Unreachable`."""
    client = client_as("admin")
    path = f"/api/v1/collections/{quote(collection, safe='')}/cards/export"
    query: str | None = ""
    while query is not None:
        page = client.send("GET", f"{path}?{query}" if query else path)
        with client.understood():
            _check(page)
        sys.stdout.buffer.write(page.data)
        query = _next(page.headers.get("link", ""))
    sys.stdout.flush()
    return 0


def look_up(wanted: Lookup) -> int:
    """Prints the cards under each term. Raises `NoAccess`, `Declined`, `Unreachable`."""
    path = f"/api/v1/collections/{quote(wanted.collection, safe='')}/context-cards/lookup"
    client = client_as("agent")
    found = client.post(path, {"terms": list(wanted.terms)}).body
    with client.understood():
        text = texts.cards_text(found)
    print(json.dumps(found, ensure_ascii=False, indent=2) if wanted.as_json else text)
    return 0


def _check(page: Received) -> None:
    """Raises ValueError for a page whose lines are no cards."""
    if not all(json.loads(line)["id"] for line in page.data.splitlines()):
        raise ValueError("a card without an id")


def _next(link: str) -> str | None:
    before, after = _LINK
    return link.removeprefix(before).removesuffix(after) if link.startswith(before) else None
