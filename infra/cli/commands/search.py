"""`kgw search`."""

from __future__ import annotations

from infra.cli.grammar import Commands, add_json, add_profile, command, whole_number


def add_to(commands: Commands) -> None:
    parser = command(
        commands,
        "search",
        "search:search",
        summary="find passages in all sources",
        about="Asks for passages, as an agent, an assistant or a widget would. What an agent is told has each "
        "source's outcome beside the passages; the others get public passages alone. A profile has a token of "
        "an agent; assistants and widgets ask at the gateway that runs here, or with KGW_URL and KGW_TOKEN.",
        example="kgw search 'refund override code' --limit 3\n"
        "kgw search 'ferry pass' --profile work --provider cs_k3j5mq2x7a4bwz6t --deadline-ms 4000",
    )
    parser.add_argument("query", help="what to look for")
    parser.add_argument(
        "--as", dest="caller", choices=("agent", "assistant", "widget"), default="agent", help="who asks (agent)"
    )
    parser.add_argument(
        "--limit", type=whole_number(1, 50), default=5, metavar="N", help="at most so many passages (5)"
    )
    parser.add_argument("--locale", metavar="TAG", help="a language tag, such as de or zh")
    parser.add_argument("--locale-fallback", metavar="TAG", help="the language to take where the first has nothing")
    parser.add_argument(
        "--provider", action="append", dest="providers", metavar="ID", help="ask this one alone; may be repeated"
    )
    parser.add_argument(
        "--collection", action="append", dest="collections", metavar="CID", help="bring its cards; may be repeated"
    )
    parser.add_argument(
        "--deadline-ms", type=whole_number(500, 25_000), metavar="MS", help="when the answer has to be there"
    )
    parser.add_argument("--freshness", choices=("normal", "fresh", "force"), help="how new text has to be")
    parser.add_argument("--product", metavar="NAME", help="for live services: what it is about")
    parser.add_argument("--repository", metavar="OWNER/NAME", help="for live services: whose code it is about")
    parser.add_argument("--version", dest="of_version", metavar="TEXT", help="for live services: which version")
    parser.add_argument("--origin", metavar="URL", help="as a widget: the website that shows it")
    parser.add_argument("--agent-id", metavar="ID", help="as an agent: in whose name it is asked")
    add_json(parser, "the answer as it came")
    add_profile(parser)
