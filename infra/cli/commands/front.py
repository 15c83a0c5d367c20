"""`kgw front`."""

from __future__ import annotations

import argparse

from infra.cli.grammar import Commands, command, group


def add_to(commands: Commands) -> None:
    actions = group(
        commands,
        "front",
        summary="the distribution in front of a deployed gateway",
        about="The value by which functions recognise what came through the distribution. No value is ever printed.",
    )
    parser = command(
        actions,
        "rotate",
        "commands.front:run",
        summary="change the value, also for the first time; finishes what broke off",
        about="Changes the value, also for the first time, without a request being refused meanwhile. It takes your "
        "own AWS credentials, which may read the stack's outputs, write its secret and the rows of two tables, "
        "and update the distribution. It takes about ten minutes and can be broken off: the next run goes on.",
        example="kgw front rotate --stack KnowledgeGateway",
    )
    parser.add_argument("--stack", required=True, metavar="NAME", help="the deployed stack")


def run(options: argparse.Namespace) -> int:
    from infra.cli.front import rotate_front

    return rotate_front(options.stack)
