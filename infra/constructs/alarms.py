"""What an operator is told without looking. When, is in `infra.alarms`."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.alarms import ALARMS, Alarm
from infra.constructs.metrics import Sources, metric_of

_OPERATIONS_PAGE = "docs/operations.md"


def make_alarms(scope: Construct, sources: Sources) -> tuple[cloudwatch.Alarm, ...]:
    """All of them, without an action yet."""
    return tuple(_alarm(scope, alarm, sources) for alarm in ALARMS)


def _alarm(scope: Construct, alarm: Alarm, sources: Sources) -> cloudwatch.Alarm:
    threshold, comparison = _threshold_of(alarm)
    silence = cloudwatch.TreatMissingData
    return cloudwatch.Alarm(
        scope,
        f"{alarm.name}Alarm",
        alarm_description=f"{alarm.why} What to do: {_OPERATIONS_PAGE}, {alarm.runbook!r}.",
        metric=_metric_of(alarm, sources),
        threshold=threshold,
        comparison_operator=comparison,
        evaluation_periods=alarm.periods,
        datapoints_to_alarm=alarm.datapoints,
        treat_missing_data=silence.BREACHING if alarm.is_silence_bad else silence.NOT_BREACHING,
    )


def _threshold_of(alarm: Alarm) -> tuple[float, cloudwatch.ComparisonOperator]:
    if alarm.below is not None:
        return alarm.below, cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
    if alarm.above is None:
        raise ValueError(f"{alarm.name} has no threshold")
    return alarm.above, cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD


def _metric_of(alarm: Alarm, sources: Sources) -> cloudwatch.IMetric:
    period = Duration.minutes(alarm.period_min)
    metrics = {reading.id: metric_of(reading, sources, period=period) for reading in alarm.readings}
    if not alarm.expression:
        (only,) = metrics.values()
        return only
    return cloudwatch.MathExpression(
        expression=alarm.expression, using_metrics=dict(metrics), period=period, label=alarm.name
    )
