"""The operator command `kgw`. Each command describes itself in `infra/cli/commands`; that, and what it works with, is
loaded when it is named.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from infra.cli.ending import ended
from infra.cli.grammar import Parser, commands_of, refuse_secrets
from infra.cli.terminal import say

COMMANDS: Final = (
    "up",
    "search",
    "status",
    "providers",
    "instances",
    "cards",
    "keys",
    "allowances",
    "credentials",
    "audit",
    "login",
    "logout",
    "profiles",
    "accept",
    "front",
    "restore",
)
_STATUSES: Final = """\
exit statuses:
  0    done; of status and tests: all is well
  1    it cannot be done, or was refused
  2    wrong arguments, or a confirmation that nobody can be asked for; nothing was done
  3    done, and what was looked at or tested is not well
  130  interrupted
  141  whoever read what it prints has gone

environment:
  KGW_URL, KGW_TOKEN  a gateway and a token for it
  KGW_PROFILE         a profile of kgw login
  NO_COLOR            no colours on a terminal, either

kgw profiles --help says which gateway is spoken to. Secrets are never arguments.
"""


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status, as `kgw --help` explains it."""
    given = sys.argv[1:] if arguments is None else arguments
    return ended(lambda: _run(given), name="kgw", is_json=_wants_json(given))


def whole_parser(given: Sequence[str] = ()) -> Parser:
    """Of all commands, or of the one alone that these arguments name: no other is needed to read them."""
    parser = Parser(
        given=given, prog="kgw", description="Runs, asks and administers a Knowledge Gateway.", epilog=_STATUSES
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    commands = commands_of(parser)
    for name in given[:1] if given and given[0] in COMMANDS else COMMANDS:
        import_module(f"infra.cli.commands.{name}").add_to(commands)
    return parser


def _wants_json(given: Sequence[str]) -> bool:
    """What comes after -- is no option."""
    return "--json" in given[: given.index("--") if "--" in given else None]


def _run(given: Sequence[str]) -> int:
    refuse_secrets(given)
    options = whole_parser(given).parse_args(given)
    status: int = options.run(options)
    return status


class _Version(argparse.Action):
    """Looked up only where somebody asks: that takes as long as all the rest."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib import metadata

        say(f"kgw {metadata.version('knowledge-gateway')}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
