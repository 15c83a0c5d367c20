"""`kgw search`: asks the gateway that runs on this machine. Tokens come from its file, never from the command line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from infra.cli import texts
from infra.cli.access import client_here, origin_here
from infra.cli.http import Client


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    query: str
    caller: str  # agent, assistant or widget
    limit: int
    locale: str | None
    as_json: bool


def search(wanted: Search) -> int:
    """Prints the answer. Raises `NoAccess`, `Declined`, `Unreachable`."""
    client = client_here(wanted.caller)
    answer = _ask(wanted, client)
    with client.understood():
        text = texts.answer_text(answer)
    print(json.dumps(answer, ensure_ascii=False, indent=2) if wanted.as_json else text)
    return 0


def _ask(wanted: Search, client: Client) -> dict[str, Any]:
    body: dict[str, Any] = {"query": wanted.query, "limit": wanted.limit}
    if wanted.locale:
        body["locale"] = wanted.locale
    if wanted.caller == "widget":
        return client.post(texts.WIDGET_SEARCH, body, Origin=origin_here()).body
    return client.post(texts.SEARCH, body).body
