"""What an admin lists, shows, makes, changes and deletes, whatever it is. Each method takes the options, prints, and
returns the exit status; what it raises is `Told`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from infra.cli.access import client_as
from infra.cli.bodies import something
from infra.cli.editing import changed, listed, path_of, removed
from infra.cli.http import Answer, Client
from infra.cli.output import Json, show, thing_text
from infra.cli.progress import working
from infra.cli.prompts import confirm
from infra.cli.shown_once import place_of, put_away
from infra.cli.tables import shortened
from infra.cli.terminal import Lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Things:
    """Under `path`; `plural` is the name of a page's list, for people in `list_text`."""

    path: str
    plural: str
    list_text: Callable[[Json], Lines]

    def show_all(self, options: argparse.Namespace) -> int:
        client = admin(options)
        show(client, listed(client, self.path, self.plural), as_json=options.as_json, text=self.list_text)
        return 0

    def show_one(self, options: argparse.Namespace) -> int:
        client = admin(options)
        return _shown(client, client.call("GET", self.path_of(options)).body, options)

    def make(self, options: argparse.Namespace, body: Mapping[str, Any]) -> int:
        client = admin(options)
        return _shown(client, _made(client, self.path, body, options), options)

    def make_with_secret(
        self, options: argparse.Namespace, body: Mapping[str, Any], *, name: str, below: str | None = None
    ) -> int:
        """Its secret, which is called `name` in the answer, goes where it belongs. `below` is what makes a new one of a
        thing that is there.
        """
        path = self.path if below is None else self.path_of(options, below)
        with place_of(options) as place:
            client = admin(options)
            told = _made(client, path, body, options)
            with client.understood():
                shown, status = put_away(told, name, place, as_json=options.as_json)
        _shown(client, shown, options)
        return status

    def change(self, options: argparse.Namespace, body: Mapping[str, Any] | Callable[[Json], Json]) -> int:
        """`body` may be made of what is there."""
        client = admin(options)

        def wanted(present: Json) -> Json:
            return something(body if isinstance(body, Mapping) else body(present))

        return _shown(client, changed(client, "PATCH", self.path_of(options), wanted), options)

    def ask(
        self,
        options: argparse.Namespace,
        below: str,
        body: Mapping[str, Any],
        *,
        doing: str,
        text: Callable[[Json], Lines] = thing_text,
    ) -> Json:
        """Has something done to one, and shows what came of it."""
        client = admin(options)
        with working(doing):
            told = client.post(self.path_of(options, below), body).body
        show(client, told, as_json=options.as_json, text=text)
        return told

    def end(
        self,
        options: argparse.Namespace,
        *,
        verb: str = "Delete",
        warning: str = "",
        named: Callable[[Json], str] | None = None,
    ) -> int:
        """For ever, after a confirmation of exactly what is there."""
        client = admin(options)
        present = client.call("GET", self.path_of(options))
        with client.understood():
            what = (named or named_by_id)(present.body)
        self.end_what_is(client, options, present, what=what, verb=verb, warning=warning)
        return 0

    def end_what_is(
        self,
        client: Client,
        options: argparse.Namespace,
        present: Answer,
        *,
        what: str,
        verb: str = "Delete",
        warning: str = "",
        query: str = "",
        more: Mapping[str, Any] | None = None,
    ) -> None:
        confirm(f"{verb} {what}?{warning}", is_agreed=options.yes)
        removed(client, self.path_of(options), etag=present.etag, query=query)
        done = f"{verb}d"
        told = {done.lower(): options.id, **(more or {})}
        show(client, told, as_json=options.as_json, text=lambda _: [f"{done} {what}."])

    def path_of(self, options: argparse.Namespace, *below: str) -> str:
        return path_of(self.path, options.id, *below)


def admin(options: argparse.Namespace) -> Client:
    return client_as("admin", profile=options.profile)


def named_by_id(thing: Json) -> str:
    return f"{shortened(str(thing['name']))} ({shortened(str(thing['id']))})"


def _made(client: Client, path: str, body: Mapping[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    with working("Making it"):
        return client.create(path, body, key=options.idempotency_key).body


def _shown(client: Client, told: Json, options: argparse.Namespace) -> int:
    show(client, told, as_json=options.as_json, text=thing_text)
    return 0
