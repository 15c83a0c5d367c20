"""Options that more than one command has."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infra.cli.grammar import Commands, Parser, add_json, add_profile, command, no_secret, variable, whole_number

_KEY = re.compile(r"[\x21-\x7e]{1,255}", re.ASCII)
EXPOSURES = ("customer_safe", "agent_only")
SERVER_KINDS = ("dify", "fastgpt", "ragflow")


@dataclass(frozen=True, slots=True)
class Actions:
    """Commands of a group that a gateway carries out. What they run is in `module`; `id_of` says what their ID is."""

    commands: Commands
    module: str
    id_of: str
    made: list[Parser] = field(default_factory=list)

    def add(self, name: str, run: str = "", *, has_id: bool = True, **told: str) -> Parser:
        """`run` is the function, where it is not called as the command is; `told` as in `command`."""
        parser = command(self.commands, name, f"{self.module}:{run or name.replace('-', '_')}", **told)
        if has_id:
            parser.add_argument("id", metavar="ID", help=self.id_of)
        self.made.append(parser)
        return parser


@contextmanager
def actions_of(commands: Commands, module: str, *, id_of: str) -> Iterator[Actions]:
    """Each has, after its own options, those that all have."""
    actions = Actions(commands, module, id_of)
    yield actions
    for each in actions.made:
        add_json(each)
        add_profile(each)


def add_exposure(parser: Parser, *, required: bool) -> None:
    parser.add_argument(
        "--exposure", choices=EXPOSURES, required=required, help="how far what it holds may travel; for ever"
    )


def add_idempotency_key(parser: Parser) -> None:
    parser.add_argument(
        "--idempotency-key", type=idempotency_key, metavar="KEY", help="that of a run whose answer was lost"
    )


def add_secret_to(parser: Parser) -> None:
    parser.add_argument(
        "--secret-to",
        type=Path,
        metavar="FILE",
        help="write the secret to FILE, for its owner alone, or into a pipe; show it nowhere",
    )


def add_yes(parser: Parser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask")


def add_settings(parser: Parser) -> None:
    parser.add_argument(
        "--config",
        action="append",
        type=setting,
        metavar="NAME=VALUE",
        help="one setting of its kind; a VALUE that is JSON is taken as such; may be repeated",
    )


def add_search_limits(parser: Parser, *, is_searched: bool = False) -> None:
    """Of what is bound on a self-hosted server, or speaks Dify's External Knowledge API. `is_searched`: there is always
    a search before it is saved.
    """
    parser.add_argument("--result-limit", type=whole_number(1, 20), metavar="N", help="servers: most passages")
    parser.add_argument(
        "--request-timeout-ms", type=whole_number(1_000, 25_000), metavar="MS", help="servers: for how long to wait"
    )
    parser.add_argument(
        "--max-snippet-characters", type=whole_number(100, 8_000), metavar="N", help="servers: longest passage"
    )
    parser.add_argument(
        "--test-query",
        required=is_searched,
        metavar="TEXT",
        help="servers: what it is searched for before it is saved",
    )


def add_connection(parser: Parser) -> None:
    """How a server is reached, and with which key."""
    given = parser.add_mutually_exclusive_group()
    given.add_argument(
        "--key-env", type=variable, metavar="NAME", help="the environment variable with the server's key"
    )
    given.add_argument(
        "--key-stdin", action="store_true", help="the server's key comes on standard input, or is asked for"
    )
    given.add_argument("--key", type=no_secret("--key-env or --key-stdin"), help=argparse.SUPPRESS)
    parser.add_argument(
        "--acknowledge",
        action="append",
        choices=("plain_http", "private_network"),
        metavar="RISK",
        help="plain_http or private_network, for exactly this URL; may be repeated",
    )
    parser.add_argument(
        "--public-content-only",
        action="store_const",
        const=True,
        help="you state that the key reaches public content alone (customer_safe needs it)",
    )
    parser.add_argument("--authority", type=Path, metavar="FILE", help="a certificate authority (PEM) for this server")


def idempotency_key(text: str) -> str:
    if not _KEY.fullmatch(text):
        raise argparse.ArgumentTypeError("a key is 1 to 255 letters, digits and signs of ASCII without blanks")
    return text


def setting(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not (name and sign):
        raise argparse.ArgumentTypeError("a setting is NAME=VALUE")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value
