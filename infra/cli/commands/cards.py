"""`kgw cards`."""

from __future__ import annotations

import argparse
from pathlib import Path

from infra.cli.commands.fields import EXPOSURES, add_idempotency_key, add_yes
from infra.cli.grammar import Commands, Parser, add_json, add_profile, command, group


def add_to(commands: Commands) -> None:
    actions = group(
        commands,
        "cards",
        summary="import, export and look up cards, and their collections",
        about="Context cards: a glossary, in collections that are customer_safe or agent_only for ever.",
    )
    importing = command(
        actions,
        "import",
        "commands.cards:run_import",
        summary="add and change cards out of a file",
        about="Sends the rows of a JSON Lines file, or of a table (.csv), in slices. Rows that are there already "
        "change nothing: after Ctrl-C, or a failure, the same command goes on.",
        example="kgw cards import glossary.csv --collection csc_k3j5mq2x7a4bwz6t",
        statuses=", and 1 when rows were refused",
    )
    importing.add_argument("file", type=Path, metavar="FILE", help="JSON Lines, or a table called .csv")
    exporting = command(
        actions,
        "export",
        "cards:export_cards",
        summary="print every card as a line that an import takes",
        example="kgw cards export --collection csc_k3j5mq2x7a4bwz6t > cards.jsonl",
    )
    looking = command(
        actions,
        "lookup",
        "commands.cards:run_lookup",
        summary="print the cards under some terms",
        example="kgw cards lookup --collection csc_k3j5mq2x7a4bwz6t 'ferry pass' 渡轮卡",
    )
    looking.add_argument("terms", nargs="+", metavar="TERM", help="a whole key, whatever its case and white space")
    for each in (importing, exporting, looking):
        each.add_argument("--collection", required=True, metavar="CID", help="the id of the collection")
        add_profile(each)
    add_json(importing)
    add_json(exporting, "one JSON document instead of lines")
    add_json(looking)
    _add_collections(actions)


def _add_collections(actions: Commands) -> None:
    collections = group(
        actions, "collections", summary="the collections that cards lie in", about="Collections of cards."
    )
    listing = command(collections, "list", "collections:show_all", summary="list all collections")
    making = command(
        collections,
        "create",
        "collections:create",
        summary="make a collection",
        example="kgw cards collections create --name 'Words of the harbour' --exposure customer_safe",
    )
    making.add_argument("--name", required=True, metavar="TEXT", help="what it is called")
    making.add_argument(
        "--exposure",
        required=True,
        choices=EXPOSURES,
        help="how far its cards may travel; for ever",
    )
    add_idempotency_key(making)
    renaming = command(collections, "rename", "collections:rename", summary="call it something else")
    deleting = command(
        collections,
        "delete",
        "collections:delete",
        summary="delete it with all its cards",
        about="It is gone at once; its cards are cleared away in the background.",
    )
    _add_id(renaming)
    renaming.add_argument("--name", required=True, metavar="TEXT", help="what it is called from now on")
    _add_id(deleting)
    add_yes(deleting)
    for each in (listing, making, renaming, deleting):
        add_json(each)
        add_profile(each)


def _add_id(parser: Parser) -> None:
    parser.add_argument("id", metavar="CID", help="the id of the collection")


def run_import(options: argparse.Namespace) -> int:
    from infra.cli.import_cards import Import, import_cards

    return import_cards(
        Import(file=options.file, collection=options.collection, as_json=options.as_json, profile=options.profile)
    )


def run_lookup(options: argparse.Namespace) -> int:
    from infra.cli.cards import Lookup, look_up

    return look_up(
        Lookup(terms=options.terms, collection=options.collection, as_json=options.as_json, profile=options.profile)
    )
