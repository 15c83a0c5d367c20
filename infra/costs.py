"""What the gateway costs, worked out of AWS's public prices and of what its requests do.

`python -m infra.costs` prints the tables of `docs/operations.md`, which a test holds to this output.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from infra.alarms import ALARMS
from infra.cli.ending import ended
from infra.functions import FUNCTIONS
from infra.pools import POOL_VARIABLES
from infra.watching import COUNTED, EMITTED, series_of

# Of mid-2026: US East (N. Virginia), US dollars, without free allowances and before taxes.
HTTP_API_PER_MILLION: Final = 1.00
LAMBDA_PER_MILLION: Final = 0.20
LAMBDA_PER_GB_S: Final = 0.0000133334  # arm64
READS_PER_MILLION: Final = 0.125
WRITES_PER_MILLION: Final = 0.625
LOGS_PER_GB: Final = 0.50
LOGS_KEPT_PER_GB: Final = 0.03  # and month
KMS_PER_10_000: Final = 0.03
TRAFFIC_PER_GB: Final = 0.09
KEY_PER_MONTH: Final = 1.00
SECRET_PER_MONTH: Final = 0.40
METRIC_PER_MONTH: Final = 0.30
ALARM_PER_MONTH: Final = 0.10  # for each metric that it reads
DASHBOARD_PER_MONTH: Final = 3.00
TABLE_PER_GB: Final = 0.25  # and month
RECOVERY_PER_GB: Final = 0.20  # and month

_MILLION: Final = 1_000_000
_GB: Final = 1_000_000_000
_MONTH_S: Final = 30 * 86_400
SECRETS_KEPT_S: Final = 300
ACCESS_LINE_BYTES: Final = 330
PLATFORM_LINES_BYTES: Final = 400  # what Lambda writes of each run: START, END and REPORT


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request of a function that is warm. `reads` are rows of up to 4 KB, read strongly consistent; `writes` rows
    of up to 1 KB. `lines_bytes` is what the function writes into its log, its measures included.
    """

    name: str
    assumed: str
    run_ms: int
    memory_mb: int
    reads: int
    writes: int
    lines_bytes: int
    answer_bytes: int
    secrets: int = 0  # opened once in five minutes by each process
    preflights: int = 0


_MEMORY_MB: Final = {function.name: function.memory_mb for function in FUNCTIONS}
_WAIT_MS: Final = 1_000

SEARCH: Final = Request(
    name="search",
    assumed="an agent, 5 providers, 10 results",
    run_ms=_WAIT_MS,
    memory_mb=_MEMORY_MB["search"],
    reads=4,  # the credential, a generation for each exposure profile, the circuits
    writes=1,  # the rate
    lines_bytes=2_000,
    answer_bytes=10_500,
    secrets=5,
)
WIDGET: Final = Request(
    name="widget",
    assumed="5 providers, 10 results, each with a preflight",
    run_ms=_WAIT_MS,
    memory_mb=_MEMORY_MB["widget"],
    reads=3,  # the credential, a generation, the circuits
    writes=2,  # the rates of the credential and of the address
    lines_bytes=2_000,
    answer_bytes=6_000,
    secrets=5,
    preflights=1,
)
# The same search for an MCP client: what it answers is there twice, as data and as text.
MCP: Final = Request(
    name="mcp",
    assumed="an agent's search as a tool, as in the first column",
    run_ms=_WAIT_MS,
    memory_mb=_MEMORY_MB["mcp"],
    reads=SEARCH.reads,
    writes=SEARCH.writes,
    lines_bytes=2_300,
    answer_bytes=19_000,
    secrets=5,
)
LOOKUP: Final = Request(
    name="lookup",
    assumed="10 terms, 5 cards found",
    run_ms=40,
    memory_mb=_MEMORY_MB["lookup"],
    reads=17,  # the credential, the collection, a row for each term (a miss as well), each card
    writes=1,
    lines_bytes=400,
    answer_bytes=6_000,
)
REQUESTS: Final = (SEARCH, WIDGET, LOOKUP, MCP)
_PREFLIGHT_MS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One line of a bill: what, how it comes about, and US dollars."""

    name: str
    how: str
    dollars: float


def per_million(request: Request) -> tuple[Part, ...]:
    """What a million of them in a month comes to."""
    calls = 1 + request.preflights
    gb_s = request.memory_mb / 1024 * (request.run_ms + request.preflights * _PREFLIGHT_MS) / 1000
    logged = request.lines_bytes + calls * (ACCESS_LINE_BYTES + PLATFORM_LINES_BYTES)
    processes = max(1, round(_MILLION / _MONTH_S * request.run_ms / 1000))
    opened = request.secrets * processes * _MONTH_S // SECRETS_KEPT_S
    return (
        Part(name="HTTP API", how=_times(calls, HTTP_API_PER_MILLION), dollars=calls * HTTP_API_PER_MILLION),
        Part(name="Lambda, requests", how=_times(calls, LAMBDA_PER_MILLION), dollars=calls * LAMBDA_PER_MILLION),
        Part(
            name="Lambda, time",
            how=f"{gb_s:.2f} GB-s × {LAMBDA_PER_GB_S * _MILLION:.2f}",
            dollars=gb_s * LAMBDA_PER_GB_S * _MILLION,
        ),
        Part(
            name="DynamoDB, reads",
            how=_times(request.reads, READS_PER_MILLION),
            dollars=request.reads * READS_PER_MILLION,
        ),
        Part(
            name="DynamoDB, writes",
            how=_times(request.writes, WRITES_PER_MILLION),
            dollars=request.writes * WRITES_PER_MILLION,
        ),
        Part(
            name="Logs",
            how=f"{logged:,} bytes = {logged / 1000:.2f} GB × {LOGS_PER_GB + LOGS_KEPT_PER_GB:.2f}",
            dollars=logged * _MILLION / _GB * (LOGS_PER_GB + LOGS_KEPT_PER_GB),
        ),
        Part(
            name="KMS",
            how=f"{opened:,} openings × {KMS_PER_10_000} / 10,000" if opened else "nothing is opened",
            dollars=opened / 10_000 * KMS_PER_10_000,
        ),
        Part(
            name="Traffic out",
            how=f"{request.answer_bytes:,} bytes = {request.answer_bytes / 1000:.1f} GB × {TRAFFIC_PER_GB:.2f}",
            dollars=request.answer_bytes * _MILLION / _GB * TRAFFIC_PER_GB,
        ),
    )


def metrics_at_most() -> int:
    """Every one that can come to be; each is paid for in the hours in which it is written."""
    return sum(len(list(series_of(metric))) for metric in EMITTED) + len(COUNTED)


def alarm_metrics() -> int:
    return sum(len(alarm.readings) for alarm in ALARMS)


_PROBE_RUNS: Final = _MONTH_S // 300
_PROBE_S: Final = 2
_PROBE_READS, _PROBE_WRITES, _PROBE_LINES_BYTES, _PROBE_SECRETS = 10, 2, 1_500, 5


def idle_month() -> tuple[Part, ...]:
    """A month in which nobody asks anything, with five healthy providers."""
    secrets = len(POOL_VARIABLES) + 1
    (probe,) = (function for function in FUNCTIONS if function.every_min)
    gb_s = _PROBE_RUNS * _PROBE_S * probe.memory_mb / 1024
    logged = _PROBE_RUNS * (_PROBE_LINES_BYTES + PLATFORM_LINES_BYTES)
    probe_dollars = (
        _PROBE_RUNS / _MILLION * LAMBDA_PER_MILLION
        + gb_s * LAMBDA_PER_GB_S
        + _PROBE_RUNS * _PROBE_READS / _MILLION * READS_PER_MILLION
        + _PROBE_RUNS * _PROBE_WRITES / _MILLION * WRITES_PER_MILLION
        + logged / _GB * LOGS_PER_GB
        + _PROBE_RUNS * _PROBE_SECRETS / 10_000 * KMS_PER_10_000
    )
    written = 3  # runs, left out, and one state
    return (
        Part(name="Keys", how=_times(2, KEY_PER_MONTH), dollars=2 * KEY_PER_MONTH),
        Part(name="Secrets", how=_times(secrets, SECRET_PER_MONTH), dollars=secrets * SECRET_PER_MONTH),
        Part(
            name="Alarms",
            how=f"{len(ALARMS)} that read {_times(alarm_metrics(), ALARM_PER_MONTH)}",
            dollars=alarm_metrics() * ALARM_PER_MONTH,
        ),
        Part(name="Dashboard", how=_times(1, DASHBOARD_PER_MONTH), dollars=DASHBOARD_PER_MONTH),
        Part(name="Metrics", how=_times(written, METRIC_PER_MONTH), dollars=written * METRIC_PER_MONTH),
        Part(
            name="The probe",
            how=f"{_PROBE_RUNS:,} runs of {_PROBE_S} s, {_PROBE_READS} reads, {_PROBE_WRITES} writes, "
            f"{_PROBE_SECRETS} openings, their lines",
            dollars=probe_dollars,
        ),
        Part(
            name="Tables",
            how=f"0.1 GB × {TABLE_PER_GB + RECOVERY_PER_GB:.2f}, recovery included",
            dollars=0.1 * (TABLE_PER_GB + RECOVERY_PER_GB),
        ),
    )


def total_of(parts: Sequence[Part]) -> float:
    return sum(part.dollars for part in parts)


def _times(count: int, price: float) -> str:
    return f"{count} × {price:.3f}".rstrip("0").rstrip(".") if price * 100 % 1 else f"{count} × {price:.2f}"


def pages() -> str:
    """The tables, in Markdown."""
    return "\n".join([*_million_table(), "", *_idle_table(), "", *_metrics_line()])


def _million_table() -> Iterator[str]:
    yield "| for a million of | " + " | ".join(f"{one.name}: {one.assumed}" for one in REQUESTS) + " |"
    yield "| --- |" + " --- |" * len(REQUESTS)
    bills = [per_million(one) for one in REQUESTS]
    for parts in zip(*bills, strict=True):
        cells = " | ".join(f"{part.how} = **{part.dollars:.2f}**" for part in parts)
        yield f"| {parts[0].name} | {cells} |"
    yield "| **together** | " + " | ".join(f"**${total_of(bill):.2f}**" for bill in bills) + " |"


def _idle_table() -> Iterator[str]:
    yield "| an idle month | | |"
    yield "| --- | --- | --- |"
    for part in idle_month():
        yield f"| {part.name} | {part.how} | {part.dollars:.2f} |"
    yield f"| **together** | | **${total_of(idle_month()):.2f}** |"


def _metrics_line() -> Iterator[str]:
    most = metrics_at_most()
    yield (
        f"At most {most} metrics of the gateway's own can come to be (every kind with every status on both lanes): "
        f"{_times(most, METRIC_PER_MONTH)} = ${most * METRIC_PER_MONTH:.2f} a month."
    )


def main() -> int:
    print(pages())
    return 0


if __name__ == "__main__":
    sys.exit(ended(main, name="costs"))
