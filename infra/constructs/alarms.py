"""What an operator is told without looking."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.constructs.names import camel
from shared.observability import ADMIN_AUTHENTICATION_FAILED, UNITS_ASK_FOR_REVIEW

NAMESPACE = "KnowledgeGateway"
REFUSED_ADMINS = "RefusedAdminAuthentications"
TOLERATED_PER_5_MIN = 10
UNREVIEWED_UNITS = "UnreviewedUnits"


def alarm_on_refused_admins(scope: Construct, *, log: logs.ILogGroup) -> cloudwatch.Alarm:
    """Counts failed admin authentications in the admin function's log; more than ten in five minutes is an alarm."""
    counted = _count(scope, REFUSED_ADMINS, log=log, message=ADMIN_AUTHENTICATION_FAILED, metric=REFUSED_ADMINS)
    return _alarm(
        scope,
        counted,
        name=REFUSED_ADMINS,
        description="Somebody is trying admin tokens that are not valid.",
        tolerated=TOLERATED_PER_5_MIN,
    )


def alarm_on_unreviewed_units(scope: Construct, *, logs_of: Mapping[str, logs.ILogGroup]) -> cloudwatch.Alarm:
    """An alarm while operations of a pool of which a fifth of the limit is unknown go on. `logs_of`: by function."""
    counted = [
        _count(scope, UNREVIEWED_UNITS + camel(name), log=log, message=UNITS_ASK_FOR_REVIEW, metric=UNREVIEWED_UNITS)
        for name, log in logs_of.items()
    ]
    return _alarm(
        scope,
        counted[0],  # all of them are one metric
        name=UNREVIEWED_UNITS,
        description="A fifth of a pool's allowance is taken by operations whose end nobody knows: review them.",
        tolerated=0,
    )


def _count(scope: Construct, name: str, *, log: logs.ILogGroup, message: str, metric: str) -> logs.MetricFilter:
    return logs.MetricFilter(
        scope,
        name,
        log_group=log,
        filter_pattern=logs.FilterPattern.string_value("$.message", "=", message),
        metric_namespace=NAMESPACE,
        metric_name=metric,
        metric_value="1",
    )


def _alarm(
    scope: Construct, counted: logs.MetricFilter, *, name: str, description: str, tolerated: int
) -> cloudwatch.Alarm:
    """On more than `tolerated` in five minutes."""
    return cloudwatch.Alarm(
        scope,
        name + "Alarm",
        alarm_description=description,
        metric=counted.metric(statistic=cloudwatch.Stats.SUM, period=Duration.minutes(5)),
        threshold=tolerated,
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
        evaluation_periods=1,
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
    )
