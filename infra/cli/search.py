"""`kgw search`: asks the gateway that runs on this machine. Tokens come from its file, never from the command line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from infra.cli import texts
from infra.cli.http import Client, Declined, Unreachable
from infra.cli.state import LOCAL, read_json


class CannotSearch(Exception):
    """The message says what is in the way and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    query: str
    caller: str  # agent, assistant or widget
    limit: int
    locale: str | None
    as_json: bool


def search(wanted: Search) -> int:
    """Prints the answer. Raises `CannotSearch`."""
    try:
        local = read_json(LOCAL)
    except (ValueError, OSError):
        raise CannotSearch(f"{LOCAL} cannot be read.") from None
    if local is None or wanted.caller not in local:
        raise CannotSearch(f"There is no {wanted.caller} in {LOCAL}. Start the demo here first: kgw up")
    answer = _ask(wanted, local)
    print(json.dumps(answer, ensure_ascii=False, indent=2) if wanted.as_json else texts.answer_text(answer))
    return 0


def _ask(wanted: Search, local: dict[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = {"query": wanted.query, "limit": wanted.limit}
    if wanted.locale:
        body["locale"] = wanted.locale
    client = Client(local["url"], local[wanted.caller])
    try:
        if wanted.caller == "widget":
            return client.post(texts.WIDGET_SEARCH, body, Origin=local["origin"]).body
        return client.post(texts.SEARCH, body).body
    except (Declined, Unreachable) as error:
        raise CannotSearch(str(error)) from None
