"""`make bench`: one table, each row = ours, baseline, ratio, bar, measured side by side in this run on this machine.

A figure without its baseline means little. Exits with 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench import table
from tests.bench.groups import GROUPS, Group, chosen
from tests.bench.run import Run


def main(arguments: Sequence[str] | None = None, *, groups: Sequence[Group] = GROUPS) -> int:
    """0 when every bar holds, 1 when one is missed. Raises SystemExit(2) for arguments that mean nothing."""
    parser = _parser()
    options = parser.parse_args(arguments)
    words: list[str] = options.only
    _check(parser, options.page, words)
    wanted = chosen(words, among=groups)
    # With --json the document has standard output to itself, and whoever waits still sees that something happens.
    progress = sys.stderr if options.json else sys.stdout
    run = Run()
    print(f"{run.machine.line()}\n{table.HEAD}", file=progress, flush=True)
    run.measure(wanted, words, tell=lambda told: print(table.line(told), file=progress, flush=True))
    if run.is_empty():
        parser.error(f"no row is of {' or '.join(words)}; groups are {', '.join(group.name for group in groups)}")
    print(table.summary(run), file=progress)
    if options.json:
        print(json.dumps(run.document(), indent=2))
    if options.page is not None:
        table.write_results(options.page, run)
    return 1 if run.missed() else 0


def _check(parser: argparse.ArgumentParser, page: Path | None, words: Sequence[str]) -> None:
    """Before anything is measured, which takes minutes."""
    if page is None:
        return
    if words:
        parser.error("--page tells a whole run, so not with --only")
    if not table.has_place_for_results(page):
        parser.error(f"{page} has no part between {table.BEGIN} and {table.END}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="rows or groups whose name has one of these words",
    )
    parser.add_argument("--json", action="store_true", help="print JSON; the table goes to standard error")
    parser.add_argument("--page", type=Path, help="write the results into this page, between its two marks")
    return parser


if __name__ == "__main__":
    sys.exit(main())
