"""`kgw restore`."""

from __future__ import annotations

import argparse

from infra.cli.grammar import Commands, command
from infra.tables import TABLES


def add_to(commands: Commands) -> None:
    parser = command(
        commands,
        "restore",
        "commands.restore:run",
        summary="put a restored table back",
        about="Makes a table of a deployed gateway what a restored copy of it is, with your own AWS credentials. Rows "
        "of the audit and of a distribution in front stay. Without --apply it only counts.",
        example="kgw restore --stack KnowledgeGateway --table cards --from cards-restored",
    )
    parser.add_argument("--stack", required=True, metavar="NAME", help="the deployed stack")
    parser.add_argument("--table", required=True, choices=[each.name for each in TABLES], help="which of its tables")
    parser.add_argument("--from", dest="source", required=True, metavar="TABLE", help="the restored copy")
    parser.add_argument("--apply", action="store_true", help="write and delete rows")


def run(options: argparse.Namespace) -> int:
    from infra.cli.restore import restore

    return restore(stack=options.stack, table=options.table, source=options.source, apply=options.apply)
