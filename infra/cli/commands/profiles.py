"""`kgw profiles`."""

from __future__ import annotations

from infra.cli.grammar import Commands, add_json, command


def add_to(commands: Commands) -> None:
    parser = command(
        commands,
        "profiles",
        "login:show_profiles",
        summary="list the gateways that were logged in to, and which one is used",
        about="Which gateway a command speaks to is decided by the first of these that is there: --profile; KGW_URL "
        "with KGW_TOKEN; KGW_PROFILE, the name of a profile; the gateway that runs in this directory "
        "(.kgw/local.json), as the bearer of KGW_TOKEN where that is set; the default profile, which is the "
        "first one until you say another. No token is printed.",
        example="kgw profiles --default work",
    )
    parser.add_argument("--default", dest="usual", metavar="NAME", help="use this one where nothing else is said")
    add_json(parser)
