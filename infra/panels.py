"""What the dashboard shows, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from infra.alarms import Of, Reading
from infra.functions import FUNCTIONS
from infra.tables import TABLES
from infra.watching import KINDS, LANES, STATES
from shared.measures import (
    FAILED_ANSWERS,
    PARTIAL_ANSWERS,
    PROBE_LEFT_OUT,
    PROBE_RUNS,
    PROVIDER_DURATION,
    PROVIDER_OUTCOMES,
    PROVIDERS_BY_STATE,
    SEARCH_DURATION,
    SEARCHES,
    ZERO_RESULTS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """All series of one emitted metric with this value of one dimension, as one line: what there is shows, what never
    happened takes no room.
    """

    metric: str
    dimension: str
    value: str
    statistic: str = "Sum"
    together: str = "SUM"  # or MAX


Shown: TypeAlias = "Reading | Found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    title: str
    shown: tuple[Shown, ...]
    is_stacked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`note` is Markdown, above the panels."""

    note: str
    panels: tuple[Panel, ...]


def _of_lanes(metric: str, *, statistic: str = "Sum") -> tuple[Reading, ...]:
    return tuple(_reading(metric, statistic, ("Lane", lane), label=lane) for lane in LANES)


def _of_functions(metric: str, *, statistic: str = "Sum") -> tuple[Reading, ...]:
    names = [function.name for function in FUNCTIONS]
    return tuple(_reading(metric, statistic, ("FunctionName", Of("function", name)), label=name) for name in names)


def _of_tables(metric: str) -> tuple[Reading, ...]:
    return tuple(_reading(metric, "Sum", ("TableName", Of("table", table.name)), label=table.name) for table in TABLES)


def _of_api(metric: str, *, statistic: str = "Sum") -> Reading:
    return _reading(metric, statistic, ("ApiId", Of("api")), label=f"{metric} {statistic}")


def _reading(metric: str, statistic: str, *dimensions: tuple[str, str | Of], label: str) -> Reading:
    return Reading(id=label, metric=metric, statistic=statistic, dimensions=dimensions)


def _count(*metrics: str) -> tuple[Reading, ...]:
    return tuple(_reading(metric, "Sum", label=metric) for metric in metrics)


_SYSTEM_ERRORS: Final = tuple(
    _reading(
        "SystemErrors",
        "Sum",
        ("TableName", Of("table", table.name)),
        ("Operation", operation),
        label=f"{table.name} {operation}",
    )
    for table in TABLES
    for operation in ("BatchGetItem", "Query", "UpdateItem")
)

ROWS: Final = (
    Row(
        note="## Searches",
        panels=(
            Panel(title="Searches", shown=_of_lanes(SEARCHES), is_stacked=True),
            Panel(
                title="How long they take, ms",
                shown=(*_of_lanes(SEARCH_DURATION, statistic="p50"), *_of_lanes(SEARCH_DURATION, statistic="p99")),
            ),
            Panel(title="Partial answers", shown=_of_lanes(PARTIAL_ANSWERS)),
            Panel(title="Failed answers", shown=(*_of_lanes(FAILED_ANSWERS), *_count("SearchesFromMemory"))),
            Panel(title="Nothing known: everybody answered, nobody had anything", shown=_of_lanes(ZERO_RESULTS)),
        ),
    ),
    Row(
        note="## Providers",
        panels=(
            Panel(
                title="Asked, by kind",
                shown=tuple(Found(metric=PROVIDER_OUTCOMES, dimension="Kind", value=kind) for kind in KINDS),
                is_stacked=True,
            ),
            Panel(
                title="Failed and skipped, all kinds",
                shown=tuple(
                    Found(metric=PROVIDER_OUTCOMES, dimension="Status", value=status)
                    for status in ("failed", "skipped")
                ),
            ),
            Panel(
                title="How long the slowest take, by kind, ms",
                shown=tuple(
                    Found(metric=PROVIDER_DURATION, dimension="Kind", value=kind, statistic="p99", together="MAX")
                    for kind in KINDS
                ),
            ),
            Panel(
                title="As the probe finds them",
                shown=tuple(_reading(PROVIDERS_BY_STATE, "Maximum", ("State", state), label=state) for state in STATES),
                is_stacked=True,
            ),
            Panel(title="The probe", shown=_count(PROBE_RUNS, PROBE_LEFT_OUT)),
            Panel(
                title="Taken out of use; pools at rest",
                shown=_count("ProvidersAutoDisabled", "PoolsExhausted", "UnreviewedUnits"),
            ),
        ),
    ),
    Row(
        note="## The API and its functions",
        panels=(
            Panel(title="Requests", shown=(_of_api("Count"), _of_api("4xx"), _of_api("5xx"))),
            Panel(
                title="Answers, ms", shown=(_of_api("Latency", statistic="p50"), _of_api("Latency", statistic="p99"))
            ),
            Panel(
                title="Refused, and faults",
                shown=_count(
                    "ThrottledRequests", "RequestsPastTheFront", "RefusedAdminAuthentications", "GatewayFaults"
                ),
            ),
            Panel(title="Errors", shown=_of_functions("Errors")),
            Panel(title="Throttles", shown=_of_functions("Throttles")),
            Panel(title="At one time", shown=_of_functions("ConcurrentExecutions", statistic="Maximum")),
        ),
    ),
    Row(
        note="## The store and the secrets",
        panels=(
            Panel(title="Refused reads", shown=_of_tables("ReadThrottleEvents")),
            Panel(title="Refused writes", shown=_of_tables("WriteThrottleEvents")),
            Panel(title="Failures of DynamoDB", shown=_SYSTEM_ERRORS),
            Panel(title="Failed calls", shown=_count("StoreFailures", "SecretFailures")),
        ),
    ),
    Row(
        note="## What it costs (docs/operations.md has the prices)",
        panels=(
            Panel(title="Runs", shown=_of_functions("Invocations"), is_stacked=True),
            Panel(title="Time of the functions, ms", shown=_of_functions("Duration"), is_stacked=True),
            Panel(title="Read units", shown=_of_tables("ConsumedReadCapacityUnits"), is_stacked=True),
            Panel(title="Write units", shown=_of_tables("ConsumedWriteCapacityUnits"), is_stacked=True),
            Panel(title="Bytes through the API", shown=(_of_api("DataProcessed"),)),
        ),
    ),
)
