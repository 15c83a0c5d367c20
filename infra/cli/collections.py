"""`kgw cards collections`: what cards lie in."""

from __future__ import annotations

import argparse
from typing import Final

from infra.cli.access import client_as
from infra.cli.editing import changed, listed, path_of, removed
from infra.cli.output import Json, show, table_text, thing_text, word
from infra.cli.prompts import confirm
from infra.cli.tables import shortened
from infra.cli.terminal import Lines

PATH: Final = "/api/v1/collections"
_TITLES: Final = ("ID", "NAME", "EXPOSURE", "CARDS")


def show_all(options: argparse.Namespace) -> int:
    client = client_as("admin", profile=options.profile)
    show(client, listed(client, PATH, "collections"), as_json=options.as_json, text=_text)
    return 0


def create(options: argparse.Namespace) -> int:
    client = client_as("admin", profile=options.profile)
    body = {"name": options.name, "exposureProfile": options.exposure}
    show(client, client.create(PATH, body, key=options.idempotency_key).body, as_json=options.as_json, text=thing_text)
    return 0


def rename(options: argparse.Namespace) -> int:
    client = client_as("admin", profile=options.profile)
    told = changed(client, "PATCH", path_of(PATH, options.id), {"name": options.name})
    show(client, told, as_json=options.as_json, text=thing_text)
    return 0


def delete(options: argparse.Namespace) -> int:
    client = client_as("admin", profile=options.profile)
    present = client.call("GET", path_of(PATH, options.id))
    with client.understood():
        what = f"{shortened(present.body['name'])} ({present.body['id']}) and its {present.body['cardCount']} cards"
    confirm(f"Delete {what}?", is_agreed=options.yes)
    removed(client, path_of(PATH, options.id), etag=present.etag)
    show(client, {"deleted": options.id}, as_json=options.as_json, text=lambda _: [f"Deleted {what}."])
    return 0


def _text(told: Json) -> Lines:
    fields = ("id", "name", "exposureProfile", "cardCount")
    rows = [[word(each[name]) for name in fields] for each in told["collections"]]
    return table_text(_TITLES, rows, empty="There are no collections.")
