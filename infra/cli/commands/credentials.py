"""`kgw credentials`."""

from __future__ import annotations

from infra.cli.commands.fields import Actions, actions_of, add_idempotency_key, add_secret_to, add_yes
from infra.cli.grammar import Commands, Parser, group, whole_number

_CLASSES = ("adm", "agt", "ast", "pub")
_ID = "k3j5mq2x7a4bwz6t"


def add_to(commands: Commands) -> None:
    found = group(
        commands,
        "credentials",
        summary="who may ask, and what for",
        about="Credentials: adm administers, agt is a trusted human's tool, ast an assistant, pub a website's widget.",
    )
    with actions_of(found, "credentials", id_of="the id of the credential, or root") as actions:
        actions.add("list", "show_all", has_id=False, summary="list all credentials")
        actions.add("show", "show_one", summary="show one; never its token")
        _add_create(actions)
        _add_update(actions)
        _add_rotate(actions)
        revoking = actions.add(
            "revoke",
            summary="end one for ever",
            about="Revokes a credential: its token works no more, and it is gone from the list.",
        )
        add_yes(revoking)


def _add_create(actions: Actions) -> None:
    parser = actions.add(
        "create",
        has_id=False,
        summary="issue one",
        about="Issues a credential. Its token is shown this once: on a terminal, in --json, or in the file of "
        "--secret-to.",
        example="kgw credentials create agt --name 'Ticket tool' --expires 90d --secret-to ticket-tool.token\n"
        "kgw credentials create pub --name 'Help site' --origin https://help.example.com",
    )
    parser.add_argument("kind", choices=_CLASSES, metavar="CLASS", help="adm, agt, ast or pub")
    parser.add_argument("--name", required=True, metavar="TEXT", help="whose it is")
    _add_fields(parser)
    add_secret_to(parser)
    add_idempotency_key(parser)


def _add_update(actions: Actions) -> None:
    parser = actions.add(
        "update",
        summary="change some of its fields",
        about="Changes what is said and leaves the rest; grants, origins and allowed providers are replaced whole. Of "
        "root only the status can be changed.",
        example=f"kgw credentials update {_ID} --rate-per-minute 600\nkgw credentials update root --status disabled",
    )
    parser.add_argument("--name", metavar="TEXT", help="whose it is")
    parser.add_argument("--status", choices=("active", "disabled"), help="whether its token works")
    parser.add_argument("--no-grants", action="store_true", help="take all grants away")
    parser.add_argument("--all-providers", action="store_true", help="no restriction to some providers any more")
    _add_fields(parser)


def _add_rotate(actions: Actions) -> None:
    parser = actions.add(
        "rotate",
        summary="give it a new token",
        about="Makes a new token, which is shown this once. The old one works no more from then on.",
        example=f"kgw credentials rotate {_ID} --secret-to ticket-tool.token",
    )
    add_secret_to(parser)
    add_idempotency_key(parser)


def _add_fields(parser: Parser) -> None:
    parser.add_argument(
        "--grant", action="append", metavar="NAME", help="knowledge:read_public (ast), external_knowledge:agent (agt)"
    )
    parser.add_argument("--origin", action="append", metavar="URL", help="pub: a website; may be repeated")
    parser.add_argument(
        "--allowed-provider", action="append", metavar="ID", help="agt: reach these alone; may be repeated"
    )
    parser.add_argument("--rate-per-minute", type=whole_number(1, 100_000), metavar="N", help="requests in a minute")
    parser.add_argument(
        "--address-rate-per-minute", type=whole_number(1, 10_000), metavar="N", help="pub: of one address"
    )
    parser.add_argument(
        "--expires", metavar="WHEN", help="so many days from now (90d), a moment (2027-01-31T00:00:00Z), or never"
    )
