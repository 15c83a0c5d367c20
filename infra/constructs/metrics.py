"""Metrics of the stack: filters that make some out of log lines, and readings of them all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aws_cdk import Aws, Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.alarms import Of, Reading
from infra.constructs.names import camel
from infra.watching import COUNTED, METRICS, Counted, Line, Provided


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What is watched. `log_groups` are by function, and the API's own under `infra.watching.ACCESS`; `functions` and
    `tables` are names, by the ones that they have here.
    """

    log_groups: Mapping[str, logs.ILogGroup]
    functions: Mapping[str, str]
    tables: Mapping[str, str]
    api_id: str

    def name_of(self, of: Of) -> str:
        if of.kind == "api":
            return self.api_id
        return (self.functions if of.kind == "function" else self.tables)[of.name]


def count_lines(scope: Construct, sources: Sources) -> None:
    """One filter for each metric and log. All that count for one metric add to the same numbers."""
    for metric in COUNTED:
        for name in metric.logs:
            logs.MetricFilter(
                scope,
                f"{metric.name}{camel(name)}",
                log_group=sources.log_groups[name],
                filter_pattern=logs.FilterPattern.literal(pattern_of(metric)),
                metric_namespace=Aws.STACK_NAME,
                metric_name=metric.name,
                metric_value="1",
            )


def pattern_of(metric: Counted) -> str:
    """In the language of CloudWatch's filters."""
    return "{ " + " || ".join(_pattern_of(line) for line in metric.lines) + " }"


def _pattern_of(line: Line) -> str:
    return "(" + " && ".join(f'$.{name} = "{value}"' for name, value in line.fields) + ")"


def metric_of(reading: Reading, sources: Sources, *, period: Duration) -> cloudwatch.Metric:
    metric = METRICS[reading.metric]
    return cloudwatch.Metric(
        namespace=metric.namespace if isinstance(metric, Provided) else Aws.STACK_NAME,
        metric_name=metric.name,
        statistic=reading.statistic,
        period=period,
        dimensions_map={
            name: sources.name_of(value) if isinstance(value, Of) else value for name, value in reading.dimensions
        },
    )
