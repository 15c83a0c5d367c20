"""`kgw logout`."""

from __future__ import annotations

from infra.cli.grammar import Commands, add_json, command


def add_to(commands: Commands) -> None:
    parser = command(
        commands,
        "logout",
        "login:log_out",
        summary="forget a gateway and its tokens",
        about="Removes a profile from this machine. The credential itself is not revoked: kgw credentials revoke ID.",
        example="kgw logout --profile work",
    )
    parser.add_argument("--profile", metavar="NAME", help="which one (the default one)")
    add_json(parser)
