"""How a run is shown in a terminal and on a page of Markdown."""

from __future__ import annotations

import os
from pathlib import Path

from tests.bench.groups import Group
from tests.bench.measure import Absent, Row
from tests.bench.run import Part, Run

BEGIN, END = "<!-- results -->", "<!-- /results -->"
HEAD = f"{'what':<64}{'ours':>10}{'baseline':>10}{'ratio':>8}{'bar':>7}"


def line(told: Group | Row | Absent) -> str:
    if isinstance(told, Group):
        return f"\n{told.name}: {told.about}"
    if isinstance(told, Absent):
        return f"{told.name:<64}not measured here: {told.why}"
    missed = "" if told.holds else "  MISSED"
    figures = f"{figure(told.ours):>10}{figure(told.baseline):>10}{_two(told.ratio):>8}{_two(told.bar):>7}"
    return f"{told.name:<64}{figures}  {told.unit}{missed}  {told.note}".rstrip()


def summary(run: Run) -> str:
    """What was missed, by name, and how long it took."""
    rows, seconds = len(run.rows()), sum(part.seconds for part in run.parts)
    told = [f"\n{rows} {'row' if rows == 1 else 'rows'} in {seconds:.0f} s. {verdict(run)}"]
    told += [f"  {row.name}: {_two(row.ratio) or figure(row.ours)}, bar {_two(row.bar)}" for row in run.missed()]
    return "\n".join(told)


def verdict(run: Run) -> str:
    """How many rows could have been missed is told too: where none can, nothing is promised and nothing holds."""
    barred, missed = sum(row.bar is not None for row in run.rows()), len(run.missed())
    if missed:
        return f"Missed: {missed} of {barred} bars"
    return f"Every bar holds, {barred} of them." if barred else "None of them has a bar."


def figure(value: float | None) -> str:
    """Three digits that say something."""
    if value is None:
        return "-"
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def _two(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def why_no_results_go_into(page: Path) -> str | None:
    """None where they can be written there."""
    try:
        text = page.read_text(encoding="utf-8")
    except FileNotFoundError:
        return "is not there"
    except (OSError, UnicodeDecodeError):
        return "cannot be read"
    if not 0 <= text.find(BEGIN) < text.find(END):
        return f"has no part between {BEGIN} and {END}"
    return None if os.access(page, os.W_OK) else "cannot be written"


def write_results(page: Path, run: Run) -> None:
    """Puts the run between the page's two marks; the rest of the page stays as it is, and the page whole."""
    page = page.resolve()
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    written = page.with_name(f".{page.name}.new")
    written.write_text(f"{before}{BEGIN}\n{results(run)}\n{END}{after}", encoding="utf-8")
    written.chmod(page.stat().st_mode)
    written.replace(page)


def results(run: Run) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in run.packages.items())
    head = f"Run of {run.date} on {run.machine.line()}. With {versions}. {verdict(run)}"
    return "\n\n".join([head, *(_part(part) for part in run.parts if part.rows or part.absent)])


def _part(part: Part) -> str:
    lines = [
        f'### {part.group.about[0].upper()}{part.group.about[1:]}\n\n`make bench ARGS="--only {part.group.name}"`\n',
        "| what | ours | baseline | unit | ratio | bar | |",
        "|---|--:|--:|---|--:|--:|---|",
        *(_cells(row) for row in part.rows),
        *(f"| {_cell(each.name)} | | | | | | not measured here: {_cell(each.why)} |" for each in part.absent),
    ]
    return "\n".join(lines)


def _cells(row: Row) -> str:
    note = row.note if row.holds else f"**missed** {row.note}".rstrip()
    cells = [row.name, figure(row.ours), figure(row.baseline), row.unit, _two(row.ratio), _two(row.bar), note]
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
