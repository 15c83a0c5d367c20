"""`kgw providers`."""

from __future__ import annotations

import argparse

from infra.cli.commands.fields import (
    SERVER_KINDS,
    Actions,
    actions_of,
    add_connection,
    add_exposure,
    add_idempotency_key,
    add_search_limits,
    add_secret_to,
    add_settings,
    add_yes,
)
from infra.cli.grammar import Commands, Parser, group, whole_number

KINDS = ("contract", "context7", "exa", "firecrawl", "mintlify", "deepwiki", *SERVER_KINDS, "dify_external")
_CAPABILITIES = (
    "semanticSearch",
    "locale",
    "localeFallback",
    "freshness",
    "translationGroups",
    "chunking",
    "scoring",
    "citationUrl",
)
_LONGEST_WINDOW_H = 168
_ID = "cs_k3j5mq2x7a4bwz6t"


def add_to(commands: Commands) -> None:
    found = group(
        commands,
        "providers",
        summary="the sources that are searched",
        about="Providers: what is searched. Each is customer_safe or agent_only for ever.",
    )
    with actions_of(found, "providers", id_of="the id of the provider") as actions:
        _add_reading(actions)
        _add_create(actions)
        _add_update(actions)
        _add_switches(actions)
        _add_rotate(actions)
        _add_test(actions)
        _add_delete(actions)


def _add_reading(actions: Actions) -> None:
    actions.add("list", "show_all", has_id=False, summary="list all providers")
    actions.add("show", "show_one", summary="show a provider with all its fields")
    actions.add(
        "capabilities",
        "read_capabilities",
        summary="read from one what it can do, and keep it",
        statuses=", and 3 when it could not be read",
    )


def _add_create(actions: Actions) -> None:
    parser = actions.add(
        "create",
        has_id=False,
        summary="register one",
        about="Registers a provider, switched off until it has passed a test. Of one that speaks the contract the "
        "answer has its signing secret, which is shown this once: on a terminal, in --json, or in the file of "
        "--secret-to.",
        example="kgw providers create --name 'Help centre' --exposure customer_safe \\\n"
        "  --base-url https://kb.example.com/v1 --secret-to help-centre.secret\n"
        "kgw providers create --kind exa --name 'Docs, live' --exposure agent_only --approved-host docs.example.com",
    )
    parser.add_argument("--kind", choices=KINDS, default="contract", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--name", required=True, metavar="TEXT", help="what it is called")
    add_exposure(parser, required=False)
    parser.add_argument(
        "--instance", metavar="ID", help="servers: the instance that it lies on (or: kgw instances bind)"
    )
    parser.add_argument("--remote-id", metavar="ID", help="servers: which knowledge base there")
    _add_fields(parser)
    add_secret_to(parser)
    add_idempotency_key(parser)


def _add_update(actions: Actions) -> None:
    parser = actions.add(
        "update",
        summary="change some of its fields",
        about="Changes what is said and leaves the rest. Settings and capabilities are added to those that it has. "
        "--module '' removes the module.",
        example=f"kgw providers update {_ID} --priority 50 --module billing",
    )
    parser.add_argument("--name", metavar="TEXT", help="what it is called from now on")
    _add_fields(parser)
    parser.add_argument("--clear-key", action="store_true", help="forget the server's key")


def _add_switches(actions: Actions) -> None:
    actions.add(
        "enable",
        summary="search a provider again",
        about="Switches a provider on, also one that was taken out of use. One that needs a test first is switched on "
        "by kgw providers test --activate.",
    )
    actions.add("disable", summary="search a provider no more")
    restoring = actions.add(
        "restore-defaults",
        summary="set config and limits of one on a server back",
    )
    restoring.add_argument("--test-query", required=True, metavar="TEXT", help="what it is searched for before that")


def _add_rotate(actions: Actions) -> None:
    parser = actions.add(
        "rotate",
        summary="give it a new signing secret",
        about="Makes a new signing secret. Both sign every request until the window ends, so the provider can switch "
        "at any moment within it. The new one is shown this once.",
        example=f"kgw providers rotate {_ID} --window-hours 24 --secret-to help-centre.secret",
    )
    parser.add_argument(
        "--window-hours", type=whole_number(0, _LONGEST_WINDOW_H), metavar="N", help="0 drops the old one at once"
    )
    parser.add_argument("--replace-pending", action="store_true", help="give up the oldest one of an open window")
    add_secret_to(parser)
    add_idempotency_key(parser)


def _add_test(actions: Actions) -> None:
    parser = actions.add(
        "test",
        summary="ask it, and say what came",
        about="Asks one provider and reports what came back, what would be dropped and why. Of a live service this is "
        "a real operation: it counts, and the service may bill it.",
        example=f"kgw providers test {_ID} --query 'ferry pass' --activate",
        statuses=", and 3 when the test failed, or it could not be switched on",
    )
    parser.add_argument("--query", metavar="TEXT", help="what to look for")
    parser.add_argument("--url", metavar="URL", help="firecrawl: an approved source to fetch instead")
    parser.add_argument("--activate", action="store_true", help="switch it on when it passes")
    parser.add_argument("--product", metavar="NAME", help="context7, mintlify: what it is about")
    parser.add_argument("--repository", metavar="OWNER/NAME", help="context7, deepwiki: whose code it is about")
    parser.add_argument("--version", dest="of_version", metavar="TEXT", help="context7: which version")


def _add_delete(actions: Actions) -> None:
    parser = actions.add("delete", summary="delete a registration")
    add_yes(parser)


def _add_fields(parser: Parser) -> None:
    parser.add_argument("--base-url", metavar="URL", help="where it answers")
    parser.add_argument(
        "--priority", type=whole_number(0, 1_000), metavar="N", help="the lower the earlier its passages stand"
    )
    parser.add_argument("--module", metavar="TEXT", help="a word to group it by")
    parser.add_argument("--approved-host", action="append", metavar="HOST", help="live kinds: may be repeated")
    parser.add_argument("--repository", action="append", metavar="OWNER/NAME", help="deepwiki: may be repeated")
    add_settings(parser)
    for sign, what in (("", "it can do this"), ("no-", "it cannot")):
        parser.add_argument(
            f"--{sign}capability",
            action="append",
            choices=_CAPABILITIES,
            metavar="NAME",
            help=f"contract: {what} (locale, scoring, …); may be repeated",
        )
    for name, about in (
        ("allow-private-network", "it may lie in a private network"),
        ("send-conversation-id", "it is told to which conversation a search belongs"),
    ):
        parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, default=None, help=f"contract: {about}")
    add_search_limits(parser)
    add_connection(parser)
