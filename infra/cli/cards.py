"""`kgw cards export` and `kgw cards lookup`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from infra.cli import texts
from infra.cli.access import client_as
from infra.cli.http import TRANSFER_S, Client
from infra.cli.output import show
from infra.cli.progress import Progress
from infra.cli.terminal import say_record

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
    before, between = ('{"cards": [\n', ",\n") if options.as_json else ("", "\n")
    for cards in _pages(client, f"/api/v1/collections/{quote(options.collection, safe='')}/cards/export"):
        if cards:
            say_record(before + between.join(cards), end="")
            before = between
        count += len(cards)
        progress.show(f"{count:,} cards")
    progress.end()
    say_record(_end(count, as_json=options.as_json), end="")
    return 0


def _end(count: int, *, as_json: bool) -> str:
    if not as_json:
        return "\n" if count else ""
    return "\n]}\n" if count else '{"cards": []}\n'


def _pages(client: Client, path: str) -> Iterator[list[str]]:
    """The lines of each page."""
    query: str | None = ""
    while query is not None:
        page = client.send("GET", f"{path}?{query}" if query else path, within_s=TRANSFER_S)
        with client.understood():
            cards = page.data.decode().rstrip("\n").split("\n") if page.data else []
            _check(cards)
        yield cards
        query = _next(page.headers.get("link", ""))


def look_up(wanted: Lookup) -> int:
    """Prints the cards under each term. Raises `NoAccess`, `Declined`, `Unreachable`."""
    path = f"/api/v1/collections/{quote(wanted.collection, safe='')}/context-cards/lookup"
    client = client_as("agent", "admin", profile=wanted.profile)
    found = client.patiently(path, {"terms": list(wanted.terms)}).body
    show(client, found, as_json=wanted.as_json, text=texts.cards_text)
    return 0


def _check(cards: Sequence[str]) -> None:
    """Raises ValueError, LookupError or TypeError for lines that are no cards, each as an import takes it."""
    if not all(json.loads(line)["id"] and min(line) >= " " for line in cards):
        raise ValueError("a card without an id, or with control characters around what it says")


def _next(link: str) -> str | None:
    before, after = _LINK
    return link.removeprefix(before).removesuffix(after) if link.startswith(before) else None
