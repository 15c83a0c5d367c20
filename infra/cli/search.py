"""`kgw search`: asks as an agent, an assistant or a widget would. Tokens never come from the command line."""

from __future__ import annotations

import argparse
from typing import Any, Final

from infra.cli import texts
from infra.cli.access import chosen, client_as
from infra.cli.ending import WrongUse
from infra.cli.here import origin_here
from infra.cli.http import is_visible
from infra.cli.output import show
from infra.cli.progress import working

_FIELDS: Final = {
    "locale": "locale",
    "locale_fallback": "localeFallback",
    "providers": "providers",
    "collections": "collections",
    "deadline_ms": "deadlineMs",
    "freshness": "freshness",
    "product": "product",
    "repository": "repository",
    "of_version": "version",
}


def search(options: argparse.Namespace) -> int:
    """Prints the answer. Raises `WrongUse`, `NoAccess`, `Declined`, `Unreachable`."""
    client = client_as(options.caller, profile=options.profile)
    body: dict[str, Any] = {"query": options.query, "limit": options.limit}
    body |= {field: value for name, field in _FIELDS.items() if (value := getattr(options, name)) is not None}
    with working("Asking all sources"):
        told = client.post(_path(options), body, **_headers(options)).body
    show(client, told, as_json=options.as_json, text=texts.answer_text)
    return 0


def _path(options: argparse.Namespace) -> str:
    return texts.WIDGET_SEARCH if options.caller == "widget" else texts.SEARCH


def _headers(options: argparse.Namespace) -> dict[str, str]:
    if options.caller == "widget":
        return {"Origin": _visible(options.origin, "--origin") if options.origin else _usual_origin(options)}
    return {} if options.agent_id is None else {"X_Helpthread_Agent_Id": _visible(options.agent_id, "--agent-id")}


def _usual_origin(options: argparse.Namespace) -> str:
    choice = chosen(options.profile)
    if choice.has_url or choice.profile is not None:
        raise WrongUse("A widget asks from a website: say --origin https://…")
    return origin_here()


def _visible(text: str, where: str) -> str:
    if not is_visible(text):
        raise WrongUse(f"{where} wants ASCII without blanks.")
    return text
