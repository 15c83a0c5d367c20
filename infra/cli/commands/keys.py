"""`kgw keys`."""

from __future__ import annotations

import argparse
from pathlib import Path

from infra.cli.grammar import Commands, add_json, add_profile, command, group, whole_number

POOLS = ("context7", "exa", "firecrawl", "mintlify", "deepwiki")
_LONGEST_REST_S = 31 * 86_400


def add_to(commands: Commands) -> None:
    actions = group(
        commands,
        "keys",
        summary="the numbered keys of live services",
        about="The pools of numbered keys of Context7, Exa and Firecrawl. Only names of keys are ever printed.",
    )
    importing = command(
        actions,
        "import",
        "commands.keys:run_import",
        summary="put the keys of a .env file into the pools",
        about="Takes CONTEXT7_API_KEY, EXA_API_KEY, FIRECRAWL_API_KEY and each of them with a number (EXA_API_KEY_2) "
        "out of a .env file, and writes them into the secrets of the gateway that runs here, or of a deployed "
        "stack. EXA_API_KEY_2_ACCOUNT names the account of EXA_API_KEY_2: keys of one account share its limits. "
        "Names that the file does not have, or leaves blank, stay as they are.",
        example="kgw keys import .env --stack KnowledgeGateway",
    )
    importing.add_argument("file", type=Path, metavar="FILE", help="lines of KEY=VALUE")
    importing.add_argument("--replace", action="store_true", help="drop the keys that the file does not have")
    importing.add_argument("--stack", metavar="NAME", help="a deployed stack, with your own AWS credentials")
    add_json(importing)
    showing = command(actions, "status", "keys:show_pools", summary="show which keys are in use and which rest")
    resting = command(
        actions,
        "rest",
        "keys:rest_key",
        summary="let a key rest",
        about="Leaves a key out of use for a while. A rest never ends earlier for it: kgw keys wake does that.",
        example="kgw keys rest exa EXA_API_KEY_2 --seconds 3600",
    )
    resting.add_argument("pool", choices=POOLS, metavar="POOL", help=", ".join(POOLS))
    resting.add_argument("key", metavar="NAME", help="the name of the key, as kgw keys status shows it")
    resting.add_argument(
        "--seconds", type=whole_number(1, _LONGEST_REST_S), required=True, metavar="N", help="for how long"
    )
    waking = command(
        actions,
        "wake",
        "keys:wake_keys",
        summary="use keys again that rest",
        about="Ends the rest of a key, or of all keys of a pool, after an account was topped up. Of a service that "
        "takes no keys it ends the rest that the service asked for.",
        example="kgw keys wake exa",
    )
    waking.add_argument("pool", choices=POOLS, metavar="POOL", help=", ".join(POOLS))
    waking.add_argument("key", nargs="?", metavar="NAME", help="the name of one key (all)")
    for each in (showing, resting, waking):
        add_json(each)
        add_profile(each)


def run_import(options: argparse.Namespace) -> int:
    from infra.cli.keys import KeyImport, import_keys

    return import_keys(
        KeyImport(file=options.file, replace=options.replace, stack=options.stack, as_json=options.as_json)
    )
