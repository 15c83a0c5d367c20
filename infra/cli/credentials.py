"""`kgw credentials`: who may ask. Each function takes the options, prints, and returns the exit status; what it raises
is `Told`.
"""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from infra.cli.access import client_as
from infra.cli.bodies import something
from infra.cli.editing import changed, listed, path_of, removed
from infra.cli.http import Client
from infra.cli.output import Json, show, table_text, thing_text, word
from infra.cli.prompts import confirm
from infra.cli.shown_once import check_place, put_away
from infra.cli.tables import shortened
from infra.cli.terminal import Lines

PATH: Final = "/api/v1/credentials"
_TITLES: Final = ("ID", "CLASS", "NAME", "STATUS", "EXPIRES", "GRANTS", "ORIGINS")
_FIELDS: Final = {
    "name": "name",
    "status": "status",
    "grant": "grants",
    "origin": "origins",
    "allowed_provider": "allowedProviders",
    "rate_per_minute": "ratePerMinute",
    "address_rate_per_minute": "addressRatePerMinute",
}
_DAYS = re.compile(r"([1-9][0-9]{0,3})d", re.ASCII)


def show_all(options: argparse.Namespace) -> int:
    client = _client(options)
    show(client, listed(client, PATH, "credentials"), as_json=options.as_json, text=_list_text)
    return 0


def show_one(options: argparse.Namespace) -> int:
    client = _client(options)
    show(client, client.call("GET", path_of(PATH, options.id)).body, as_json=options.as_json, text=thing_text)
    return 0


def create(options: argparse.Namespace) -> int:
    check_place(options)
    client = _client(options)
    told = client.create(PATH, {"class": options.kind, **_body(options)}, key=options.idempotency_key).body
    with client.understood():
        told = put_away(told, "token", options)
    show(client, told, as_json=options.as_json, text=thing_text)
    return 0


def update(options: argparse.Namespace) -> int:
    body = _body(options)
    body |= {"grants": []} if options.no_grants else {}
    body |= {"allowedProviders": None} if options.all_providers else {}
    something(body)
    client = _client(options)
    told = changed(client, "PATCH", path_of(PATH, options.id), body)
    show(client, told, as_json=options.as_json, text=thing_text)
    return 0


def rotate(options: argparse.Namespace) -> int:
    check_place(options)
    client = _client(options)
    told = client.create(path_of(PATH, options.id, "rotate"), {}, key=options.idempotency_key).body
    with client.understood():
        told = put_away(told, "token", options)
    show(client, told, as_json=options.as_json, text=thing_text)
    return 0


def revoke(options: argparse.Namespace) -> int:
    client = _client(options)
    path = path_of(PATH, options.id)
    present = client.call("GET", path)
    with client.understood():
        what = f"{shortened(present.body['name'])} ({word(present.body['class'])} {shortened(present.body['id'])})"
    confirm(f"Revoke {what}? Its token works no more then.", is_agreed=options.yes)
    removed(client, path, etag=present.etag)
    show(client, {"revoked": options.id}, as_json=options.as_json, text=lambda _: [f"Revoked {what}."])
    return 0


def _body(options: argparse.Namespace) -> dict[str, Any]:
    body = {field: value for name, field in _FIELDS.items() if (value := getattr(options, name, None)) is not None}
    return body | ({} if options.expires is None else {"expiresAt": _moment(options.expires)})


def _moment(text: str) -> str | None:
    """What is neither is for the gateway to judge."""
    if text == "never":
        return None
    if days := _DAYS.fullmatch(text):
        return (datetime.now(UTC) + timedelta(days=int(days[1]))).strftime("%Y-%m-%dT%H:%M:%SZ")
    return text


def _client(options: argparse.Namespace) -> Client:
    return client_as("admin", profile=options.profile)


def _list_text(told: Json) -> Lines:
    fields = ("id", "class", "name", "status", "expiresAt", "grants", "origins")
    rows = [[word(each[name]) for name in fields] for each in told["credentials"]]
    return table_text(_TITLES, rows, empty="There are no credentials.")
