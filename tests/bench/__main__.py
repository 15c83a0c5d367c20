"""`make bench`: one table, each row = ours, baseline, ratio, bar, measured side by side in this run on this machine.

A figure without its baseline means little. Exits with 1 when a bar is missed, which `make` turns into its own 2.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from tests.bench import table
from tests.bench.groups import GROUPS, Group, chosen
from tests.bench.run import Run


def main(arguments: Sequence[str] | None = None, *, groups: Sequence[Group] = GROUPS) -> int:
    """0 when every bar holds, 1 when one is missed. Raises SystemExit(2) for arguments that mean nothing."""
    parser = _parser()
    options = parser.parse_args(arguments)
    words: list[str] = options.only
    _check(parser, options.page, words, groups=groups)
    wanted = chosen(words, among=groups)
    # With --json the document has standard output to itself, and whoever waits still sees that something happens.
    progress = sys.stderr if options.json else sys.stdout
    run = Run()
    print(f"{run.machine.line()}\n{table.HEAD}", file=progress, flush=True)
    if not _is_measured(run, wanted, words, progress=progress):
        return 1
    if run.is_empty():
        parser.error(_no_row_is_of(words, groups))
    print(table.summary(run), file=progress)
    if options.json:
        print(json.dumps(run.document(), indent=2))
    if options.page is not None:
        table.write_results(options.page, run)
    return 1 if run.missed() else 0


def _is_measured(run: Run, wanted: Sequence[Group], words: Sequence[str], *, progress: TextIO) -> bool:
    """False where a group broke off: an answer was not what it has to be, or a server could not be started."""
    try:
        run.measure(wanted, words, tell=lambda told: print(table.line(told), file=progress, flush=True))
    except BrokenPipeError:
        raise
    except Exception:  # noqa: BLE001  # whatever it was, a run without all of its rows is not one
        traceback.print_exc()
        name = run.parts[-1].group.name
        print(f"make bench: {name} broke off, and the run with it, as told above; nothing was written", file=sys.stderr)
        return False
    return True


def _check(
    parser: argparse.ArgumentParser, page: Path | None, words: Sequence[str], *, groups: Sequence[Group]
) -> None:
    """Before anything is measured, which takes minutes."""
    # Each word by itself: beside one that is right, a misspelt one would leave out what was asked for and say nothing.
    if nobodys := [word for word in words if not word.strip() or not chosen([word], among=groups)]:
        parser.error(_no_row_is_of(nobodys, groups))
    if page is None:
        return
    if words:
        parser.error("--page tells a whole run, so not with --only")
    if why := table.why_no_results_go_into(page):
        parser.error(f"{page} {why}")


def _no_row_is_of(words: Sequence[str], groups: Sequence[Group]) -> str:
    told = " or ".join(word.strip() or "an empty word" for word in words)
    return f"no row is of {told}; groups are {', '.join(group.name for group in groups)}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="groups whose name or line in the table has one of these words, or their rows that have it",
    )
    parser.add_argument("--json", action="store_true", help="print JSON; the table goes to standard error")
    parser.add_argument("--page", type=Path, help="write the results into this page, between its two marks")
    return parser


def _plainly() -> int:
    """What ends a run early is one line, and nothing of it is written anywhere."""
    try:
        return main()
    except KeyboardInterrupt:
        print("\nmake bench: interrupted, nothing was written", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Nobody reads any more; what is still held back would fail again when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print("make bench: nobody reads its output any more", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(_plainly())
