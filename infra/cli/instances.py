"""`kgw instances`: self-hosted servers. Each function takes the options, prints, and returns the exit status; what it
raises is `Told`.
"""

from __future__ import annotations

import argparse
from typing import Any, Final
from urllib.parse import quote, urlencode

from infra.cli import providers
from infra.cli.access import client_as
from infra.cli.bodies import body_of, something
from infra.cli.editing import changed, listed, path_of, removed
from infra.cli.ending import NOT_WELL, Told
from infra.cli.http import Client
from infra.cli.output import Json, show, table_text, thing_text, word
from infra.cli.progress import working
from infra.cli.prompts import confirm
from infra.cli.reports import instance_text
from infra.cli.tables import shortened
from infra.cli.terminal import Lines

PATH: Final = "/api/v1/knowledge/instances"
_TITLES: Final = ("ID", "NAME", "KIND", "EXPOSURE", "URL", "BOUND")
_ENTRY_TITLES: Final = ("ID", "NAME", "KIND", "DOCUMENTS", "SEARCHABLE")
_FINDINGS: Final = ("reachable", "authenticated", "listReadable", "retrieval")
_MOST_PAGES: Final = 5


def show_all(options: argparse.Namespace) -> int:
    client = _client(options)
    show(client, listed(client, PATH, "instances"), as_json=options.as_json, text=_list_text)
    return 0


def show_one(options: argparse.Namespace) -> int:
    client = _client(options)
    show(client, client.call("GET", path_of(PATH, options.id)).body, as_json=options.as_json, text=thing_text)
    return 0


def create(options: argparse.Namespace) -> int:
    client = _client(options)
    body = {"kind": options.kind, **body_of(options)}
    told = client.create(PATH, body, key=options.idempotency_key).body
    show(client, told, as_json=options.as_json, text=thing_text)
    return 0


def update(options: argparse.Namespace) -> int:
    client = _client(options)

    def wanted(present: Json) -> Json:
        return something(body_of(options, present=present))

    told = changed(client, "PATCH", path_of(PATH, options.id), wanted)
    show(client, told, as_json=options.as_json, text=thing_text)
    return 0


def test(options: argparse.Namespace) -> int:
    client = _client(options)
    given = {"query": options.query, "remoteId": options.remote_id}
    body = {name: value for name, value in given.items() if value is not None}
    with working("Trying the server"):
        told = client.post(path_of(PATH, options.id, "test"), body).body
    show(client, told, as_json=options.as_json, text=instance_text)
    return NOT_WELL if "failed" in [told[name] for name in _FINDINGS] else 0


def catalog(options: argparse.Namespace) -> int:
    client = _client(options)
    with working("Reading its list"):
        told = _catalog(client, options)
    show(client, told, as_json=options.as_json, text=_catalog_text)
    return 0


def bind(options: argparse.Namespace) -> int:
    client = _client(options)
    instance = client.call("GET", path_of(PATH, options.id)).body
    with client.understood():
        body = {"kind": str(instance["kind"]), "instanceId": str(instance["id"]), **_bound_body(options)}
    with working("Searching it"):
        told = client.create(providers.PATH, body, key=options.idempotency_key).body
    show(client, told, as_json=options.as_json, text=thing_text)
    return 0


def delete(options: argparse.Namespace) -> int:
    client = _client(options)
    path = path_of(PATH, options.id)
    present = client.call("GET", path)
    with client.understood():
        bound = [str(each) for each in present.body["bindings"]]
        query = f"?bindings={','.join(quote(each, safe='') for each in bound)}" if bound else ""
        what = f"{shortened(present.body['name'])} ({shortened(present.body['id'])})"
    if bound and not options.with_bindings:
        raise Told(f"Bound to it: {word(bound)}. --with-bindings deletes them too. Nothing was done.")
    them = f" and the {len(bound)} providers that are bound to it" if bound else ""
    confirm(f"Delete {what}{them}?", is_agreed=options.yes)
    removed(client, path, etag=present.etag, query=query)
    told = {"deleted": options.id, "bindings": bound}
    show(client, told, as_json=options.as_json, text=lambda _: [f"Deleted {what}{them}."])
    return 0


def _catalog(client: Client, options: argparse.Namespace) -> dict[str, Any]:
    """One page, or all of them as one."""
    given = {"search": options.search, "parent": options.parent}
    asked = {name: value for name, value in given.items() if value is not None}
    pages = [options.page] if options.page else list(range(1, _MOST_PAGES + 1))
    told: dict[str, Any] = {}
    for page in pages:
        query = urlencode(asked | {"page": str(page)})
        found = client.call("GET", f"{path_of(PATH, options.id, 'catalog')}?{query}").body
        with client.understood():
            told = {**found, "entries": [*told.get("entries", ()), *found["entries"]]}
            if not found["hasMore"]:
                break
    return told


def _bound_body(options: argparse.Namespace) -> dict[str, Any]:
    for name in ("key_env", "key_stdin", "acknowledge", "authority"):
        setattr(options, name, None)  # of the instance
    return body_of(options)


def _client(options: argparse.Namespace) -> Client:
    return client_as("admin", profile=options.profile)


def _list_text(told: Json) -> Lines:
    fields = ("id", "name", "kind", "exposureProfile", "baseUrl")
    rows = [[*(word(each[name]) for name in fields), str(len(each["bindings"]))] for each in told["instances"]]
    return table_text(_TITLES, rows, empty="There are no instances.")


def _catalog_text(told: Json) -> Lines:
    rows = [
        (
            word(each["id"]),
            word(each["name"]),
            word(each["kind"]),
            word(each["documents"]),
            "yes" if each["notSearchable"] is None else f"no: {word(each['notSearchable'])}",
        )
        for each in told["entries"]
    ]
    shown = table_text(_ENTRY_TITLES, rows, empty="There is nothing.")
    return [*shown, "There is more: --page, or --search."] if told["hasMore"] or told["isCut"] else shown
