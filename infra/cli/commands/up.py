"""`kgw up`."""

from __future__ import annotations

import argparse
from pathlib import Path

from infra.cli.grammar import Commands, add_json, command

_HIGHEST_PORT = 65_535


def add_to(commands: Commands) -> None:
    parser = command(
        commands,
        "up",
        "commands.up:run",
        summary="run the whole gateway on this machine",
        about="Runs the whole gateway on loopback, with an embedded AWS backend, until it is interrupted. Once it "
        "serves, it writes .kgw/local.json with its url, the tokens admin, agent, assistant and widget, and the "
        "widget's origin, and prints calls to paste.",
        example="kgw up --state-dir gateway",
        statuses=", also by Ctrl-C, and 1 when it cannot run or what it needs has ended",
    )
    parser.add_argument("--port", type=_port, default=8787, help="port on 127.0.0.1; 0 takes a free one (8787)")
    parser.add_argument(
        "--no-demo", dest="demo", action="store_false", help="no providers and only the first admin's token"
    )
    parser.add_argument("--state-dir", type=Path, metavar="DIR", help="keep everything in DIR from one run to the next")
    add_json(parser, "print local.json on one line, no more")


def run(options: argparse.Namespace) -> int:
    from infra.cli.up import Wishes, up

    return up(Wishes(port=options.port, demo=options.demo, state_dir=options.state_dir, as_json=options.as_json))


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= _HIGHEST_PORT):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {_HIGHEST_PORT}")
    return int(text)
