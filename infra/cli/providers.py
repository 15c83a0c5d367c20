"""`kgw providers`: what is searched. Each function takes the options, prints, and returns the exit status; what it
raises is `Told`.
"""

from __future__ import annotations

import argparse
from typing import Any, Final

from infra.cli.access import client_as
from infra.cli.bodies import body_of, something
from infra.cli.editing import changed, listed, path_of, removed
from infra.cli.ending import NOT_WELL
from infra.cli.http import Client
from infra.cli.output import Json, show, table_text, thing_text, word
from infra.cli.progress import working
from infra.cli.prompts import confirm
from infra.cli.reports import capabilities_text, is_well, test_text
from infra.cli.shown_once import check_place, put_away
from infra.cli.tables import shortened
from infra.cli.terminal import Lines

PATH: Final = "/api/v1/knowledge/providers"
_TITLES: Final = ("ID", "NAME", "KIND", "EXPOSURE", "STATUS", "PRIORITY", "MODULE")
_TEST_FIELDS: Final = ("query", "url", "product", "repository")


def show_all(options: argparse.Namespace) -> int:
    client = _client(options)
    show(client, listed(client, PATH, "providers"), as_json=options.as_json, text=_list_text)
    return 0


def show_one(options: argparse.Namespace) -> int:
    client = _client(options)
    told = client.call("GET", path_of(PATH, options.id)).body
    show(client, told, as_json=options.as_json, text=thing_text)
    return 0


def create(options: argparse.Namespace) -> int:
    has_secret = options.kind == "contract"
    if has_secret:
        check_place(options)
    client = _client(options)
    body = {"kind": options.kind, **body_of(options)}
    with working("Registering it"):
        told = client.create(PATH, body, key=options.idempotency_key).body
    with client.understood():
        told = put_away(told, "secret", options) if has_secret else told
    show(client, told, as_json=options.as_json, text=thing_text)
    return 0


def update(options: argparse.Namespace) -> int:
    client = _client(options)

    def wanted(present: Json) -> Json:
        return something(body_of(options, present=present))

    told = changed(client, "PATCH", path_of(PATH, options.id), wanted)
    show(client, told, as_json=options.as_json, text=thing_text)
    return 0


def enable(options: argparse.Namespace) -> int:
    return _switched(options, "active")


def disable(options: argparse.Namespace) -> int:
    return _switched(options, "disabled")


def restore_defaults(options: argparse.Namespace) -> int:
    client = _client(options)
    with working("Searching it"):
        told = client.post(path_of(PATH, options.id, "restore-defaults"), {"testQuery": options.test_query}).body
    show(client, told, as_json=options.as_json, text=thing_text)
    return 0


def rotate(options: argparse.Namespace) -> int:
    check_place(options)
    client = _client(options)
    body: dict[str, Any] = {} if options.window_hours is None else {"windowHours": options.window_hours}
    body |= {"replacePending": True} if options.replace_pending else {}
    told = client.create(path_of(PATH, options.id, "rotate-secret"), body, key=options.idempotency_key).body
    with client.understood():
        told = put_away(told, "secret", options)
    show(client, told, as_json=options.as_json, text=thing_text)
    return 0


def test(options: argparse.Namespace) -> int:
    client = _client(options)
    body = {name: value for name in _TEST_FIELDS if (value := getattr(options, name)) is not None}
    body |= {"activate": True} if options.activate else {}
    body |= {} if options.of_version is None else {"version": options.of_version}
    with working("Testing it"):
        told = client.post(path_of(PATH, options.id, "test"), body).body
    show(client, told, as_json=options.as_json, text=test_text)
    return 0 if is_well(told, wants_activation=options.activate) else NOT_WELL


def read_capabilities(options: argparse.Namespace) -> int:
    client = _client(options)
    with working("Asking it"):
        told = client.post(path_of(PATH, options.id, "capabilities"), {}).body
    show(client, told, as_json=options.as_json, text=capabilities_text)
    return 0 if is_well(told, wants_activation=False) else NOT_WELL


def delete(options: argparse.Namespace) -> int:
    client = _client(options)
    path = path_of(PATH, options.id)
    present = client.call("GET", path)
    with client.understood():
        what = f"{shortened(present.body['name'])} ({shortened(present.body['id'])})"
    confirm(f"Delete {what}? What it was registered with is gone then.", is_agreed=options.yes)
    removed(client, path, etag=present.etag)
    show(client, {"deleted": options.id}, as_json=options.as_json, text=lambda _: [f"Deleted {what}."])
    return 0


def _switched(options: argparse.Namespace, status: str) -> int:
    client = _client(options)
    told = changed(client, "PATCH", path_of(PATH, options.id), {"status": status})
    show(client, told, as_json=options.as_json, text=thing_text)
    return 0


def _client(options: argparse.Namespace) -> Client:
    return client_as("admin", profile=options.profile)


def _list_text(told: Json) -> Lines:
    fields = ("id", "name", "kind", "exposureProfile")
    rows = [
        [*(word(each[name]) for name in fields), _status(each), word(each["priority"]), word(each["module"])]
        for each in told["providers"]
    ]
    return table_text(_TITLES, rows, empty="There are no providers.")


def _status(provider: Json) -> str:
    return f"{word(provider['status'])}, needs a test" if provider["needsTest"] else word(provider["status"])
