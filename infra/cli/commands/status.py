"""`kgw status`."""

from __future__ import annotations

import argparse

from infra.cli.grammar import Commands, add_json, add_profile, command, whole_number

_LONGEST_WATCH_S = 3_600


def add_to(commands: Commands) -> None:
    parser = command(
        commands,
        "status",
        "commands.status:run",
        summary="how the providers are, at a glance",
        about="Shows how the providers of a gateway are, the worst first, and the pools; of one, what has happened to "
        "it. An admin is shown everything, an agent what it may reach.",
        example="kgw status --watch 10\nkgw status cs_k3j5mq2x7a4bwz6t",
        statuses=" and all is well, 3 when it is not, and 1 when the gateway could not be asked",
    )
    parser.add_argument("provider", nargs="?", metavar="PROVIDER", help="the id of one: it is shown with its history")
    add_json(parser)
    parser.add_argument(
        "--watch",
        dest="watch_s",
        type=whole_number(1, _LONGEST_WATCH_S),
        metavar="SECONDS",
        help="ask again, until Ctrl-C",
    )
    add_profile(parser)


def run(options: argparse.Namespace) -> int:
    from infra.cli.status import Status, show_status

    return show_status(
        Status(provider=options.provider, as_json=options.as_json, watch_s=options.watch_s, profile=options.profile)
    )
