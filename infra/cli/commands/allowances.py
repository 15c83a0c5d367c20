"""`kgw allowances`."""

from __future__ import annotations

from infra.cli.commands.keys import POOLS
from infra.cli.grammar import Commands, add_json, add_profile, command, group, whole_number

_MOST = 100_000


def add_to(commands: Commands) -> None:
    actions = group(
        commands,
        "allowances",
        summary="how many operations of live services a day may have",
        about="An allowance counts the gateway's own operations at a live service in 24 hours, never money.",
    )
    showing = command(actions, "list", "allowances:show_all", summary="show all allowances")
    setting = command(
        actions,
        "set",
        "allowances:set_one",
        summary="set a limit, and say what became of operations that nobody knows of",
        about="Sets how many operations a day may have; 0 closes it. Operations that are unknown count until you have "
        "looked them up at the service: --happened and --did-not-happen say what became of so many of them.",
        example="kgw allowances set exa --limit 2000 --happened 2 --did-not-happen 1",
    )
    setting.add_argument("pool", choices=POOLS, metavar="POOL", help=", ".join(POOLS))
    number = whole_number(0, _MOST)
    setting.add_argument("--limit", type=number, metavar="N", help="operations in 24 hours (as it is)")
    setting.add_argument("--happened", type=number, default=0, metavar="N", help="so many unknown ones were made")
    setting.add_argument("--did-not-happen", type=number, default=0, metavar="N", help="so many were not")
    for each in (showing, setting):
        add_json(each)
        add_profile(each)
