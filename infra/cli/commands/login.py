"""`kgw login`."""

from __future__ import annotations

import argparse

from infra.cli.grammar import Commands, add_json, command, no_secret, variable, whole_number


def add_to(commands: Commands) -> None:
    parser = command(
        commands,
        "login",
        "login:log_in",
        summary="keep the address and a token of a gateway that runs elsewhere",
        about="Asks for the token of an admin or an agent without showing it, or takes it off standard input, has the "
        "gateway prove it, and keeps it in a profile that only you can read. A profile has room for one token "
        "of each. It is sent to that gateway alone, over https (http on this machine), and no redirect is "
        "followed. With --stack your own AWS credentials read the address and root's token of a deployed stack, "
        "and a credential of your own is issued: root's token is not kept.",
        example="kgw login https://gateway.example.com --profile work\n"
        "kgw login https://gateway.example.com --token-env ADMIN_TOKEN\n"
        "kgw login --stack KnowledgeGateway --days 30",
        statuses=", and 1 when the token or the gateway was refused",
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("url", nargs="?", metavar="URL", help="the gateway's address: https, or http on this machine")
    where.add_argument("--stack", metavar="NAME", help="a deployed stack, with your own AWS credentials")
    parser.add_argument("--profile", metavar="NAME", help="what to call it (default)")
    given = parser.add_mutually_exclusive_group()
    given.add_argument(
        "--token-env", type=variable, metavar="NAME", help="the environment variable that holds the token"
    )
    given.add_argument("--token-stdin", action="store_true", help="ask, or read standard input (so it is without this)")
    given.add_argument("--token", type=no_secret("--token-env or --token-stdin"), help=argparse.SUPPRESS)
    parser.add_argument(
        "--days", type=whole_number(1, 365), default=30, metavar="N", help="with --stack: for how long it works (30)"
    )
    add_json(parser)
