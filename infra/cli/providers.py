"""`kgw providers`: what is searched. Each function takes the options, prints, and returns the exit status; what it
raises is `Told`.
"""

from __future__ import annotations

import argparse
from typing import Any, Final

from infra.cli.bodies import body_of
from infra.cli.ending import NOT_WELL
from infra.cli.output import Json, table_text, word
from infra.cli.reports import capabilities_text, is_well, test_text
from infra.cli.terminal import Lines
from infra.cli.things import Things

PATH: Final = "/api/v1/knowledge/providers"
_TITLES: Final = ("ID", "NAME", "KIND", "EXPOSURE", "STATUS", "PRIORITY", "MODULE")
_TEST_FIELDS: Final = ("query", "url", "product", "repository")


def create(options: argparse.Namespace) -> int:
    body = {"kind": options.kind, **body_of(options)}
    if options.kind == "contract":
        return THINGS.make_with_secret(options, body, name="secret")
    return THINGS.make(options, body)


def update(options: argparse.Namespace) -> int:
    return THINGS.change(options, lambda present: body_of(options, present=present))


def enable(options: argparse.Namespace) -> int:
    return THINGS.change(options, {"status": "active"})


def disable(options: argparse.Namespace) -> int:
    return THINGS.change(options, {"status": "disabled"})


def restore_defaults(options: argparse.Namespace) -> int:
    THINGS.ask(options, "restore-defaults", {"testQuery": options.test_query}, doing="Searching it")
    return 0


def rotate(options: argparse.Namespace) -> int:
    body: dict[str, Any] = {} if options.window_hours is None else {"windowHours": options.window_hours}
    body |= {"replacePending": True} if options.replace_pending else {}
    return THINGS.make_with_secret(options, body, name="secret", below="rotate-secret")


def test(options: argparse.Namespace) -> int:
    body = {name: value for name in _TEST_FIELDS if (value := getattr(options, name)) is not None}
    body |= {"activate": True} if options.activate else {}
    body |= {} if options.of_version is None else {"version": options.of_version}
    told = THINGS.ask(options, "test", body, doing="Testing it", text=test_text)
    return 0 if is_well(told, wants_activation=options.activate) else NOT_WELL


def read_capabilities(options: argparse.Namespace) -> int:
    told = THINGS.ask(options, "capabilities", {}, doing="Asking it", text=capabilities_text)
    return 0 if is_well(told, wants_activation=False) else NOT_WELL


def delete(options: argparse.Namespace) -> int:
    return THINGS.end(options, warning=" What it was registered with is gone then.")


def _list_text(told: Json) -> Lines:
    fields = ("id", "name", "kind", "exposureProfile")
    rows = [
        [*(word(each[name]) for name in fields), _status(each), word(each["priority"]), word(each["module"])]
        for each in told["providers"]
    ]
    return table_text(_TITLES, rows, empty="There are no providers.")


def _status(provider: Json) -> str:
    return f"{word(provider['status'])}, needs a test" if provider["needsTest"] else word(provider["status"])


THINGS: Final = Things(path=PATH, plural="providers", list_text=_list_text)
show_all, show_one = THINGS.show_all, THINGS.show_one
