"""How commands are described: parsers that say what to do, and repeat nothing that may be a secret."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Final, NoReturn, TypeAlias

from infra.cli.ending import WrongUse
from infra.cli.tables import plain
from infra.cli.terminal import put, say_failure

_WIDTH: Final = 100
_LONG: Final = 20  # longer than a word that somebody mistypes
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
# Tokens and signing secrets of a gateway, and keys as the services and products behind it give them out.
_SECRET = re.compile(
    r"kg_(?:adm|agt|ast|pub)_[a-z0-9]+_[A-Za-z0-9]{16,}|kgs_[A-Za-z0-9]{16,}"
    r"|\b(?:sk|fc|exa|app|dataset|fastgpt|ragflow|ctx7sk)-(?=[A-Za-z0-9_-]*[0-9])[A-Za-z0-9_-]{12,}",
    re.ASCII,
)
SEEN_BY_ALL: Final = "everybody on this machine can read arguments"


class Parser(argparse.ArgumentParser):
    """`given` are the arguments that are parsed. No option can be shortened: one that comes later would change that."""

    def __init__(self, *, given: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **settings)
        self.given = given
        self.about = self.example = self.statuses = ""  # of one that does something

    def error(self, message: str) -> NoReturn:
        told = plain(_hushed(message, self.given))
        say_failure(lambda: {"code": WrongUse.code, "detail": told})
        super().error(told)

    def _print_message(self, message: str, file: Any = None) -> None:
        put(file, *message.removesuffix("\n").split("\n"))


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def refuse_secrets(given: Sequence[str]) -> None:
    """Raises `WrongUse` where an argument looks like a secret, which is not repeated, or is no text."""
    for place, argument in enumerate(given, start=1):
        if any("\ud800" <= sign <= "\udfff" for sign in argument):
            raise WrongUse(f"Argument {place} is no text in UTF-8. Nothing was done.")
        if _SECRET.search(argument):
            raise WrongUse(
                f"Argument {place} looks like a secret, and {SEEN_BY_ALL}: give it in an environment variable or on "
                "standard input, and if it is one, make another in its place. Nothing was done."
            )


def group(commands: Commands, name: str, *, summary: str, about: str) -> Commands:
    """A command that has commands of its own."""
    return commands_of(commands.add_parser(name, help=summary, description=_filled(about)))


def commands_of(parser: Parser) -> Commands:
    kind: Any = partial(Parser, given=parser.given)  # stands for the class
    commands: Commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command", parser_class=kind)
    return commands


def command(
    commands: Commands,
    name: str,
    run: str,
    *,
    summary: str,
    about: str = "",
    example: str = "",
    statuses: str = "",
) -> Parser:
    """A command that does something. `run` is `module:function` in `infra.cli`, loaded when the command runs: it takes
    the options and returns the exit status.
    """
    told = _filled(about or summary[0].upper() + summary[1:] + ".")
    end = f"example:\n{textwrap.indent(example, '  ')}\n\n" if example else ""
    end += _filled(f"It ends with 0 when it is done{statuses}. kgw --help has the others.")
    parser: Parser = commands.add_parser(name, help=summary, description=told, epilog=end)
    parser.set_defaults(run=partial(_loaded, run))
    parser.about, parser.example, parser.statuses = about or summary, example, statuses
    return parser


def add_json(parser: Parser, what: str = "the answer as JSON") -> None:
    parser.add_argument("--json", dest="as_json", action="store_true", help=what)


def add_profile(parser: Parser) -> None:
    parser.add_argument("--profile", metavar="NAME", help="a gateway that was logged in to (kgw profiles)")


def variable(text: str) -> str:
    """Whatever else stands there may be the key itself, and is not repeated."""
    if not _VARIABLE.fullmatch(text):
        raise argparse.ArgumentTypeError("a variable is named with letters, digits and underscores")
    return text


def no_secret(instead: str) -> Callable[[str], str]:
    """The type of an option that somebody might expect to take one."""

    def refuse(_text: str) -> str:
        raise argparse.ArgumentTypeError(f"{SEEN_BY_ALL}: use {instead}")

    return refuse


def whole_number(lowest: int, highest: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and lowest <= int(text) <= highest):
            raise argparse.ArgumentTypeError(f"a number from {lowest} to {highest}")
        return int(text)

    return read


def _loaded(name: str, options: argparse.Namespace) -> int:
    module, _, function = name.partition(":")
    status: int = getattr(import_module(f"infra.cli.{module}"), function)(options)
    return status


def _filled(text: str) -> str:
    return textwrap.fill(text, _WIDTH)


def _hushed(message: str, given: Sequence[str]) -> str:
    """What is long, and no name of an option, may be a secret."""
    values = {word.partition("=")[2] if word.startswith("--") else word for word in given}
    for value in sorted((value for value in values if len(value) > _LONG), key=len, reverse=True):
        message = message.replace(value, "…").replace(repr(value)[1:-1], "…")
    return message
