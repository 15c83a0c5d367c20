"""The operator command `kgw`."""

from __future__ import annotations

import argparse
import sys
from importlib import metadata
from pathlib import Path

from infra.cli.search import CannotSearch, Search, search
from infra.cli.up import CannotRun, Wishes, up

_HIGHEST_PORT = 65_535


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0, 1 when it cannot be done, 2 for wrong arguments."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except (CannotRun, CannotSearch) as error:
        print(f"kgw: {error}", file=sys.stderr)
        return 1


def _run(options: argparse.Namespace) -> int:
    if options.command == "up":
        return up(Wishes(port=options.port, demo=options.demo, state_dir=options.state_dir, as_json=options.as_json))
    return search(
        Search(
            query=options.query,
            caller=options.caller,
            limit=options.limit,
            locale=options.locale,
            as_json=options.as_json,
        )
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kgw", description="Runs and asks a Knowledge Gateway.")
    parser.add_argument("--version", action="version", version=f"kgw {metadata.version('knowledge-gateway')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_up(commands.add_parser("up", help="run the whole gateway on this machine", description=_UP))
    _add_search(commands.add_parser("search", help="ask the gateway that runs here", description=_SEARCH))
    return parser


_UP = (
    "Runs the whole gateway on loopback, with an embedded AWS backend, until it is interrupted. Once it serves, it "
    "writes .kgw/local.json with its url, the tokens admin, agent, assistant and widget, and the widget's origin, and "
    "prints calls to paste."
)
_SEARCH = "Asks the gateway whose address and tokens lie in .kgw/local.json."


def _add_up(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=_port, default=8787, help="port on 127.0.0.1; 0 takes a free one (8787)")
    parser.add_argument(
        "--no-demo", dest="demo", action="store_false", help="no providers and only the first admin's token"
    )
    parser.add_argument("--state-dir", type=Path, metavar="DIR", help="keep everything in DIR from one run to the next")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print local.json on one line, no more")


def _add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", help="what to look for")
    parser.add_argument(
        "--as", dest="caller", choices=("agent", "assistant", "widget"), default="agent", help="who asks (agent)"
    )
    parser.add_argument("--limit", type=int, default=5, help="at most so many passages (5)")
    parser.add_argument("--locale", help="a language tag, such as de or zh")
    parser.add_argument("--json", dest="as_json", action="store_true", help="the answer as it came")


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= _HIGHEST_PORT):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {_HIGHEST_PORT}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
