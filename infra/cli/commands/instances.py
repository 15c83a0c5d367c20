"""`kgw instances`."""

from __future__ import annotations

from infra.cli.commands.fields import (
    SERVER_KINDS,
    Actions,
    actions_of,
    add_connection,
    add_exposure,
    add_idempotency_key,
    add_search_limits,
    add_settings,
    add_yes,
)
from infra.cli.grammar import Commands, group, whole_number

_ID = "csi_k3j5mq2x7a4bwz6t"
_PAGES = 5


def add_to(commands: Commands) -> None:
    found = group(
        commands,
        "instances",
        summary="self-hosted servers, and what is bound on them",
        about="Instances: self-hosted Dify, FastGPT and RAGFlow. Knowledge bases on them are bound as providers.",
    )
    with actions_of(found, "instances", id_of="the id of the instance") as actions:
        actions.add("list", "show_all", has_id=False, summary="list all instances")
        actions.add("show", "show_one", summary="show an instance with all its fields")
        _add_create(actions)
        _add_update(actions)
        _add_test(actions)
        _add_catalog(actions)
        _add_bind(actions)
        _add_delete(actions)


def _add_create(actions: Actions) -> None:
    parser = actions.add(
        "create",
        has_id=False,
        summary="register a server",
        about="Registers a server, with its key from an environment variable or standard input.",
        example="kgw instances create --kind dify --name 'Public Dify' --exposure customer_safe \\\n"
        "  --base-url https://dify.example.com --key-env DIFY_KEY --public-content-only",
    )
    parser.add_argument("--kind", choices=SERVER_KINDS, required=True, metavar="KIND", help=", ".join(SERVER_KINDS))
    parser.add_argument("--name", required=True, metavar="TEXT", help="what it is called")
    add_exposure(parser, required=True)
    parser.add_argument("--base-url", required=True, metavar="URL", help="where it answers")
    add_connection(parser)
    add_idempotency_key(parser)


def _add_update(actions: Actions) -> None:
    parser = actions.add(
        "update",
        summary="change some of its fields",
        about="Changes what is said and leaves the rest. Another scheme, host or port needs the key again; another "
        "base URL switches what is bound off until each has passed a test.",
        example=f"kgw instances update {_ID} --key-stdin --public-content-only < key.txt",
    )
    parser.add_argument("--name", metavar="TEXT", help="what it is called from now on")
    parser.add_argument("--base-url", metavar="URL", help="where it answers")
    add_connection(parser)
    parser.add_argument("--clear-key", action="store_true", help="forget its key")


def _add_test(actions: Actions) -> None:
    parser = actions.add(
        "test",
        summary="try it, thing by thing",
        about="Tells whether it is reached, takes the key, lists what it has and, with --query, finds something. The "
        "server may log that.",
        example=f"kgw instances test {_ID} --query 'night ferry' --remote-id 6f0c2d5e-0000-4000-8000-00000000c0de",
        statuses=", and 3 when something failed",
    )
    parser.add_argument("--query", metavar="TEXT", help="search for this, too, with --remote-id")
    parser.add_argument("--remote-id", metavar="ID", help="in this knowledge base, with --query")


def _add_catalog(actions: Actions) -> None:
    parser = actions.add(
        "catalog",
        summary="list the knowledge bases on it",
        example=f"kgw instances catalog {_ID} --search ferry",
    )
    parser.add_argument("--search", metavar="TEXT", help="those whose name has it")
    parser.add_argument("--parent", metavar="ID", help="what lies in this folder")
    parser.add_argument("--page", type=whole_number(1, _PAGES), metavar="N", help="this page alone (all of them)")


def _add_bind(actions: Actions) -> None:
    parser = actions.add(
        "bind",
        summary="make a provider of one of its knowledge bases",
        about="Describes and searches the knowledge base first. What passes is saved as a provider, switched on, with "
        "the exposure of its instance.",
        example=f"kgw instances bind {_ID} 6f0c2d5e-0000-4000-8000-00000000c0de --name 'Ferry handbook' \\\n"
        "  --test-query 'night ferry'",
    )
    parser.add_argument("remote_id", metavar="REMOTE", help="the id of the knowledge base, as the catalog shows it")
    parser.add_argument("--name", required=True, metavar="TEXT", help="what the provider is called")
    parser.add_argument("--priority", type=whole_number(0, 1_000), metavar="N", help="the lower the earlier")
    parser.add_argument("--module", metavar="TEXT", help="a word to group it by")
    add_settings(parser)
    add_search_limits(parser, is_searched=True)
    add_idempotency_key(parser)


def _add_delete(actions: Actions) -> None:
    parser = actions.add(
        "delete",
        summary="delete a registration",
        about="Deletes the registration of a server; the server itself is left alone. One on which something is bound "
        "is only deleted together with that.",
        example=f"kgw instances delete {_ID} --with-bindings",
    )
    parser.add_argument("--with-bindings", action="store_true", help="and the providers that are bound to it")
    add_yes(parser)
