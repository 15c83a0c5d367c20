"""The operator command `kgw`."""

from __future__ import annotations

import argparse
import re
import sys
from importlib import metadata
from pathlib import Path

from infra.cli.access import NoAccess
from infra.cli.cards import Lookup, export_cards, look_up
from infra.cli.ending import ended
from infra.cli.env_files import Unreadable
from infra.cli.front import rotate_front
from infra.cli.front_places import NoFront
from infra.cli.http import Declined, Unreachable
from infra.cli.import_cards import Import, import_cards
from infra.cli.key_changes import NotAKey
from infra.cli.keys import KeyImport, import_keys, show_status
from infra.cli.pool_secrets import NoStore
from infra.cli.restore import TABLE_NAMES, CannotRestore, restore
from infra.cli.row_slices import Unsliceable
from infra.cli.search import Search, search
from infra.cli.status import Status
from infra.cli.status import show_status as show_health
from infra.cli.up import CannotRun, Wishes, up

_HIGHEST_PORT = 65_535
_LONGEST_WATCH_S = 3_600
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_FAILURES = (
    CannotRestore,
    CannotRun,
    NoAccess,
    NoFront,
    NoStore,
    NotAKey,
    Unreadable,
    Unsliceable,
    Declined,
    Unreachable,
)


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0, 1 when it cannot be done, 2 for wrong arguments, 130 when it was interrupted, 141
    when whoever read what it prints has gone; `status` has a 3 of its own.
    """
    return ended(lambda: _run(_parser().parse_args(arguments)), name="kgw", known=_FAILURES)


def _run(options: argparse.Namespace) -> int:
    if options.command == "up":
        return up(Wishes(port=options.port, demo=options.demo, state_dir=options.state_dir, as_json=options.as_json))
    if options.command == "cards":
        return _cards(options)
    if options.command == "keys":
        return _keys(options)
    if options.command == "accept":
        return _accept(options)
    if options.command == "front":
        return rotate_front(options.stack)
    if options.command == "restore":
        return restore(stack=options.stack, table=options.table, source=options.source, apply=options.apply)
    if options.command == "status":
        return show_health(Status(provider=options.provider, as_json=options.as_json, watch_s=options.watch_s))
    return search(
        Search(
            query=options.query,
            caller=options.caller,
            limit=options.limit,
            locale=options.locale,
            as_json=options.as_json,
        )
    )


def _cards(options: argparse.Namespace) -> int:
    if options.action == "import":
        return import_cards(Import(file=options.file, collection=options.collection, as_json=options.as_json))
    if options.action == "export":
        return export_cards(options.collection)
    return look_up(Lookup(terms=options.terms, collection=options.collection, as_json=options.as_json))


def _keys(options: argparse.Namespace) -> int:
    if options.action == "status":
        return show_status(as_json=options.as_json)
    return import_keys(
        KeyImport(file=options.file, replace=options.replace, stack=options.stack, as_json=options.as_json)
    )


def _accept(options: argparse.Namespace) -> int:
    # Connections and what goes with them take a while to load: no other command waits for that.
    from infra.cli.accept import Acceptance, CannotAccept, accept

    try:
        return accept(
            Acceptance(
                kind=options.kind,
                base_url=options.base_url,
                key_env=options.key_env,
                remote_id=options.remote_id,
                query=options.query,
                query_env=options.query_env,
                allow_http=options.allow_http,
                allow_private=options.allow_private,
                allow_loopback=options.allow_loopback,
                authority=options.authority,
                as_json=options.as_json,
                out=options.out,
            )
        )
    except CannotAccept as error:
        print(f"kgw: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("kgw: broken off; nothing was changed on the server.", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kgw", description="Runs and asks a Knowledge Gateway.")
    parser.add_argument("--version", action="version", version=f"kgw {metadata.version('knowledge-gateway')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_up(commands.add_parser("up", help="run the whole gateway on this machine", description=_UP))
    _add_search(commands.add_parser("search", help="ask the gateway that runs here", description=_SEARCH))
    _add_cards(commands.add_parser("cards", help="import, export and look up cards", description=_CARDS))
    _add_keys(commands.add_parser("keys", help="the numbered keys of live services", description=_KEYS))
    _add_status(commands.add_parser("status", help="how the providers are, at a glance", description=_STATUS))
    _add_front(commands.add_parser("front", help="the distribution in front of a deployed gateway", description=_FRONT))
    _add_restore(commands.add_parser("restore", help="put a restored table back", description=_RESTORE))
    _add_accept(
        commands.add_parser(
            "accept", help="try a self-hosted server, only reading", description=_ACCEPT, allow_abbrev=False
        )
    )
    return parser


_UP = (
    "Runs the whole gateway on loopback, with an embedded AWS backend, until it is interrupted. Once it serves, it "
    "writes .kgw/local.json with its url, the tokens admin, agent, assistant and widget, and the widget's origin, and "
    "prints calls to paste."
)
_SEARCH = "Asks the gateway whose address and tokens lie in .kgw/local.json."
_CARDS = (
    "Cards of one collection of the gateway that runs here, or of the one that KGW_URL names. The token comes from "
    ".kgw/local.json or from KGW_TOKEN."
)
_IMPORT = (
    "Sends the rows of a JSON Lines file, or of a table (.csv), in slices. Rows that are there already change nothing: "
    "after Ctrl-C, or a failure, the same command goes on. Ends with 1 when rows were refused."
)
_KEYS = "The pools of numbered keys of Context7, Exa and Firecrawl. Only names of keys are ever printed."
_KEYS_IMPORT = (
    "Takes CONTEXT7_API_KEY, EXA_API_KEY, FIRECRAWL_API_KEY and each of them with a number (EXA_API_KEY_2) out of a "
    ".env file, and writes them into the secrets of the gateway that runs here, or of a deployed stack. "
    "EXA_API_KEY_2_ACCOUNT names the account of EXA_API_KEY_2: keys of one account share its limits. Names that the "
    "file does not have, or leaves blank, stay as they are."
)
_STATUS = (
    "Shows how the providers of the gateway that runs here are, or of the one that KGW_URL names, the worst first, and "
    "the pools. The token comes from .kgw/local.json or from KGW_TOKEN; one of class agt is shown what it may reach. "
    "Ends with 0 when all is well, 3 when it is not, 1 when the gateway could not be asked."
)
_FRONT = (
    "The value by which functions recognise what came through the distribution. No value is ever printed. It takes "
    "your own AWS credentials, which may read the stack's outputs, write its secret and the rows of two tables, and "
    "update the distribution."
)
_RESTORE = (
    "Makes a table of a deployed gateway what a restored copy of it is, with your own AWS credentials. Rows of the "
    "audit and of a distribution in front stay. Without --apply it only counts."
)
_ACCEPT = (
    "Tries a self-hosted Dify, FastGPT or RAGFlow, or a server of Dify's External Knowledge API: its version, list and "
    "detail, a search in each mode, what it answers to mistakes, its limits. Only readings are sent; the server itself "
    "notes searches, and FastGPT counts them as use. The report holds no name, id, query or content. Ends with 0 when "
    "the server is accepted."
)
_KINDS = ("dify", "fastgpt", "ragflow", "dify_external")


def _add_status(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("provider", nargs="?", metavar="PROVIDER", help="the id of one: it is shown with its history")
    parser.add_argument("--json", dest="as_json", action="store_true", help="the answer as JSON")
    parser.add_argument("--watch", dest="watch_s", type=_seconds, metavar="SECONDS", help="ask again, until Ctrl-C")


def _add_accept(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=_KINDS, metavar="KIND", help=", ".join(_KINDS))
    parser.add_argument("--base-url", required=True, metavar="URL", help="as an instance is registered with it")
    parser.add_argument("--key-env", type=_variable, metavar="NAME", help="the environment variable that holds the key")
    parser.add_argument("--key", type=_no_key, help=argparse.SUPPRESS)
    parser.add_argument(
        "--remote-id", metavar="ID", help="the knowledge base to search; else one is taken off the list"
    )
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--query", metavar="TEXT", help="what to search for; something that it should find (help)")
    asked.add_argument(
        "--query-env", type=_variable, metavar="NAME", help="the environment variable that holds the query"
    )
    parser.add_argument("--allow-http", action="store_true", help="without TLS: whoever is on the way reads the key")
    parser.add_argument("--allow-private", action="store_true", help="addresses of private networks")
    parser.add_argument("--allow-loopback", action="store_true", help="this machine itself, without TLS: for stand-ins")
    parser.add_argument("--authority", type=Path, metavar="FILE", help="certificates (PEM) to trust beside the public")
    parser.add_argument("--json", dest="as_json", action="store_true", help="the report as JSON")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report to FILE, as JSON, too")


def _add_keys(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    importing = actions.add_parser(
        "import", help="put the keys of a .env file into the pools", description=_KEYS_IMPORT
    )
    importing.add_argument("file", type=Path, metavar="FILE", help="lines of KEY=VALUE")
    importing.add_argument("--replace", action="store_true", help="drop the keys that the file does not have")
    importing.add_argument("--stack", metavar="NAME", help="a deployed stack, with your own AWS credentials")
    showing = actions.add_parser("status", help="show which keys are in use and which rest")
    for each in (importing, showing):
        each.add_argument("--json", dest="as_json", action="store_true", help="the answer as JSON")


def _add_front(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    rotating = actions.add_parser("rotate", help="change the value, also for the first time; finishes what broke off")
    rotating.add_argument("--stack", required=True, metavar="NAME", help="the deployed stack")


def _add_restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stack", required=True, metavar="NAME", help="the deployed stack")
    parser.add_argument("--table", required=True, choices=TABLE_NAMES, help="which of its tables")
    parser.add_argument("--from", dest="source", required=True, metavar="TABLE", help="the restored copy")
    parser.add_argument("--apply", action="store_true", help="write and delete rows")


def _add_cards(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    importing = actions.add_parser("import", help="add and change cards out of a file", description=_IMPORT)
    importing.add_argument("file", type=Path, metavar="FILE", help="JSON Lines, or a table called .csv")
    exporting = actions.add_parser("export", help="print every card as a line that an import takes")
    looking = actions.add_parser("lookup", help="print the cards under some terms")
    looking.add_argument("terms", nargs="+", metavar="TERM")
    for each in (importing, exporting, looking):
        each.add_argument("--collection", required=True, metavar="CID", help="the id of the collection")
    for each in (importing, looking):
        each.add_argument("--json", dest="as_json", action="store_true", help="the answer as JSON")


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


def _seconds(text: str) -> float:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= _LONGEST_WATCH_S):
        raise argparse.ArgumentTypeError(f"so many seconds: from 1 to {_LONGEST_WATCH_S}")
    return float(text)


def _variable(text: str) -> str:
    """Whatever else stands there may be the key itself, and is not repeated."""
    if not _VARIABLE.fullmatch(text):
        raise argparse.ArgumentTypeError("a variable is named with letters, digits and underscores")
    return text


def _no_key(_text: str) -> str:
    raise argparse.ArgumentTypeError("everybody on this machine can read arguments: use --key-env")


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= _HIGHEST_PORT):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {_HIGHEST_PORT}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
