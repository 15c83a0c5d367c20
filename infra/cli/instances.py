"""`kgw instances`: self-hosted servers. Each function takes the options, prints, and returns the exit status; what it
raises is `Told`.
"""

from __future__ import annotations

import argparse
from typing import Any, Final
from urllib.parse import quote, urlencode

from infra.cli import providers
from infra.cli.bodies import body_of
from infra.cli.ending import NOT_WELL, Told, WrongUse
from infra.cli.http import Client
from infra.cli.output import Json, show, table_text, word
from infra.cli.progress import working
from infra.cli.reports import instance_text
from infra.cli.terminal import Lines
from infra.cli.things import Things, admin, named_by_id

PATH: Final = "/api/v1/knowledge/instances"
_TITLES: Final = ("ID", "NAME", "KIND", "EXPOSURE", "URL", "BOUND")
_ENTRY_TITLES: Final = ("ID", "NAME", "KIND", "DOCUMENTS", "SEARCHABLE")
_FINDINGS: Final = ("reachable", "authenticated", "listReadable", "retrieval")
_MOST_PAGES: Final = 5


def create(options: argparse.Namespace) -> int:
    return _THINGS.make(options, {"kind": options.kind, **body_of(options)})


def update(options: argparse.Namespace) -> int:
    return _THINGS.change(options, lambda present: body_of(options, present=present))


def test(options: argparse.Namespace) -> int:
    if (options.query is None) is not (options.remote_id is None):
        raise WrongUse("--query and --remote-id go together: what to search for, and in which knowledge base.")
    body = {} if options.query is None else {"query": options.query, "remoteId": options.remote_id}
    told = _THINGS.ask(options, "test", body, doing="Trying the server", text=instance_text)
    return NOT_WELL if "failed" in [told[name] for name in _FINDINGS] else 0


def catalog(options: argparse.Namespace) -> int:
    client = admin(options)
    with working("Reading its list"):
        told = _catalog(client, options)
    show(client, told, as_json=options.as_json, text=_catalog_text)
    return 0


def bind(options: argparse.Namespace) -> int:
    client = admin(options)
    instance = client.call("GET", _THINGS.path_of(options)).body
    with client.understood():
        body = {"kind": str(instance["kind"]), "instanceId": str(instance["id"]), **_bound_body(options)}
    return providers.THINGS.make(options, body)


def delete(options: argparse.Namespace) -> int:
    client = admin(options)
    present = client.call("GET", _THINGS.path_of(options))
    with client.understood():
        bound = [str(each) for each in present.body["bindings"]]
        query = f"?bindings={','.join(quote(each, safe='') for each in bound)}" if bound else ""
        what = named_by_id(present.body)
    if bound and not options.with_bindings:
        raise Told(f"Bound to it: {word(bound)}. --with-bindings deletes them too. Nothing was done.")
    what += f" and the {len(bound)} providers that are bound to it" if bound else ""
    _THINGS.end_what_is(client, options, present, what=what, query=query, more={"bindings": bound})
    return 0


def _catalog(client: Client, options: argparse.Namespace) -> dict[str, Any]:
    """One page, or all of them as one."""
    given = {"search": options.search, "parent": options.parent}
    asked = {name: value for name, value in given.items() if value is not None}
    pages = [options.page] if options.page else list(range(1, _MOST_PAGES + 1))
    told: dict[str, Any] = {}
    for page in pages:
        query = urlencode(asked | {"page": str(page)})
        found = client.call("GET", f"{_THINGS.path_of(options, 'catalog')}?{query}").body
        with client.understood():
            told = {**found, "entries": [*told.get("entries", ()), *found["entries"]]}
            if not found["hasMore"]:
                break
    return told


def _bound_body(options: argparse.Namespace) -> dict[str, Any]:
    for name in ("key_env", "key_stdin", "acknowledge", "authority"):
        setattr(options, name, None)  # of the instance
    return body_of(options)


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


_THINGS: Final = Things(path=PATH, plural="instances", list_text=_list_text)
show_all, show_one = _THINGS.show_all, _THINGS.show_one
