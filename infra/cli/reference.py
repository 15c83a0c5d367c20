"""Every command and option as a page of Markdown, out of the very parsers that read them: the reference in
`docs/cli.md` is what this prints.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from infra.cli.ending import ended
from infra.cli.grammar import Parser
from infra.cli.main import whole_parser
from infra.cli.terminal import say

BEGIN, END = "<!-- reference -->", "<!-- /reference -->"


def leaves(parser: Parser) -> Iterator[Parser]:
    """The commands that do something; their `prog` is how they are called."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield parser
    for each in groups:
        for below in each.choices.values():
            yield from leaves(below)


def options_of(parser: Parser) -> list[argparse.Action]:
    """What can be said of a command, but for `--help` and what only exists to be refused."""
    return [each for each in parser._actions if each.help != argparse.SUPPRESS and each.dest != "help"]


def reference() -> str:
    return "\n".join(line for parser in leaves(whole_parser()) for line in _section(parser))


def main() -> int:
    say(*reference().split("\n"))
    return 0


def _section(parser: Parser) -> Iterator[str]:
    about = parser.about[0].upper() + parser.about[1:].rstrip(".")
    yield from (f"### {parser.prog}", "", f"{about}.{_ending(parser)}", "")
    if parser.example:
        yield from ("```sh", parser.example, "```", "")
    yield from ("| | |", "| --- | --- |", *map(_row, options_of(parser)), "")


def _ending(parser: Parser) -> str:
    return f" It ends with 0 when it is done{parser.statuses}." if parser.statuses else ""


def _row(action: argparse.Action) -> str:
    value = str(action.metavar or action.dest.upper())
    if not action.option_strings:
        return f"| `{value}` | {action.help} |"
    takes = "" if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction) else f" {value}"
    among = f": {', '.join(map(str, action.choices))}" if action.choices and not action.metavar else ""
    must = " (needed)" if action.required else ""
    return f"| `{', '.join(action.option_strings)}{takes}` | {action.help}{among}{must} |"


if __name__ == "__main__":
    sys.exit(ended(main, name="reference"))
