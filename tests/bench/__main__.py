"""`make bench`: one table, each row = ours, baseline, ratio, bar. `--only WORD` filters by name, `--json` prints JSON.

Everything is measured side by side in this run on this machine; a figure without its baseline means nothing. Exits
non-zero when a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict

from tests.bench import bundles, cards, imports, live, overrun, search, stored_cards
from tests.bench.measure import Row
from tests.bench.world import a_world


def main() -> int:
    options = _options()
    rows: list[Row] = []
    if not options.json:
        print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} CPUs\n{_HEAD}")
    for row in _measured(options.only):
        rows.append(row)
        if not options.json:
            print(_line(row), flush=True)
    if options.json:
        print(json.dumps([asdict(row) | {"ratio": row.ratio, "holds": row.holds} for row in rows], indent=2))
    return 0 if all(row.holds for row in rows) else 1


def _measured(only: str) -> Iterator[Row]:
    groups: dict[str, Callable[[], Iterator[Row]]] = {
        "search": _search,
        "overrun": overrun.rows,
        "bundle": bundles.rows,
        "cards": _cards,
        "live": live.rows,
    }
    for name, group in groups.items():
        if only in name or (name == "search" and only in "import"):
            yield from (row for row in group() if only in row.name or only in name)


def _search() -> Iterator[Row]:
    with a_world() as world:
        yield from imports.rows(world.environment)
        yield from search.rows(world)


def _cards() -> Iterator[Row]:
    yield from cards.rows()
    yield from stored_cards.rows()


_HEAD = f"{'what':<56}{'ours':>10}{'baseline':>10}{'ratio':>8}{'bar':>7}"


def _line(row: Row) -> str:
    bar = "" if row.bar is None else f"{row.bar:.2f}"
    verdict = "" if row.holds else "  MISSED"
    figures = f"{row.ours:>10.1f}{row.baseline:>10.1f}{row.ratio:>8.2f}{bar:>7}"
    return f"{row.name:<56}{figures}  {row.unit}{verdict}  {row.note}".rstrip()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", default="", help="rows or groups whose name contains this word")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
