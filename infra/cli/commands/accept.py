"""`kgw accept`."""

from __future__ import annotations

import argparse
from pathlib import Path

from infra.cli.grammar import Commands, add_json, command, no_secret, variable

_KINDS = ("dify", "fastgpt", "ragflow", "dify_external")


def add_to(commands: Commands) -> None:
    parser = command(
        commands,
        "accept",
        "commands.accept:run",
        summary="try a self-hosted server, only reading",
        about="Tries a self-hosted Dify, FastGPT or RAGFlow, or a server of Dify's External Knowledge API: its "
        "version, list and detail, a search in each mode, what it answers to mistakes, its limits. Only "
        "readings are sent; the server itself notes searches, and FastGPT counts them as use. The report holds "
        "no name, id, query or content.",
        example="kgw accept dify --base-url https://dify.example.com --key-env DIFY_KEY --query 'opening hours'",
        statuses=" and the server is accepted, and 1 when it is not or could not be tried",
    )
    parser.add_argument("kind", choices=_KINDS, metavar="KIND", help=", ".join(_KINDS))
    parser.add_argument("--base-url", required=True, metavar="URL", help="as an instance is registered with it")
    parser.add_argument("--key-env", type=variable, metavar="NAME", help="the environment variable that holds the key")
    parser.add_argument("--key", type=no_secret("--key-env"), help=argparse.SUPPRESS)
    parser.add_argument(
        "--remote-id", metavar="ID", help="the knowledge base to search; else one is taken off the list"
    )
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--query", metavar="TEXT", help="what to search for; something that it should find (help)")
    asked.add_argument(
        "--query-env", type=variable, metavar="NAME", help="the environment variable that holds the query"
    )
    parser.add_argument("--allow-http", action="store_true", help="without TLS: whoever is on the way reads the key")
    parser.add_argument("--allow-private", action="store_true", help="addresses of private networks")
    parser.add_argument("--allow-loopback", action="store_true", help="this machine itself, without TLS: for stand-ins")
    parser.add_argument("--authority", type=Path, metavar="FILE", help="certificates (PEM) to trust beside the public")
    add_json(parser, "the report as JSON")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report to FILE, as JSON, too")


def run(options: argparse.Namespace) -> int:
    from infra.cli.accept import Acceptance, accept
    from infra.cli.progress import working
    from infra.cli.terminal import note

    named = {name: getattr(options, name) for name in Acceptance.__dataclass_fields__}
    try:
        with working("Trying the server"):
            return accept(Acceptance(**named))
    except KeyboardInterrupt:
        note("kgw: broken off; nothing was changed on the server.")
        return 1
