"""`kgw cards export` and `kgw cards lookup`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from infra.cli import texts
from infra.cli.access import client_as
from infra.cli.http import Client, Received
from infra.cli.progress import Progress

_LINK = ("<?", '>; rel="next"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    terms: Sequence[str]
    collection: str
    as_json: bool
    profile: str | None = None


def export_cards(options: argparse.Namespace) -> int:
    """Prints every card as one line of JSON, or all of them as one document. Raises `NoAccess`, `Declined`,
    `Unreachable`.
    """
    client = client_as("admin", profile=options.profile)
    progress, count = Progress(), 0
    before = b'{"cards": [\n' if options.as_json else b""
    for page in _pages(client, f"/api/v1/collections/{quote(options.collection, safe='')}/cards/export"):
        cards = page.data.splitlines()
        for card in cards:
            sys.stdout.buffer.write(before + card)
            before = b",\n" if options.as_json else b"\n"
        count += len(cards)
        progress.show(f"{count:,} cards")
    progress.end()
    sys.stdout.buffer.write(_end(count, as_json=options.as_json))
    sys.stdout.flush()
    return 0


def _end(count: int, *, as_json: bool) -> bytes:
    if not as_json:
        return b"\n" if count else b""
    return b"\n]}\n" if count else b'{"cards": []}\n'


def _pages(client: Client, path: str) -> Iterator[Received]:
    query: str | None = ""
    while query is not None:
        page = client.send("GET", f"{path}?{query}" if query else path)
        with client.understood():
            _check(page)
        yield page
        query = _next(page.headers.get("link", ""))


def look_up(wanted: Lookup) -> int:
    """Prints the cards under each term. Raises `NoAccess`, `Declined`, `Unreachable`."""
    path = f"/api/v1/collections/{quote(wanted.collection, safe='')}/context-cards/lookup"
    client = client_as("agent", "admin", profile=wanted.profile)
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
