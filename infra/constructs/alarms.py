"""What an operator is told without looking."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from shared.observability import ADMIN_AUTHENTICATION_FAILED

NAMESPACE = "KnowledgeGateway"
REFUSED_ADMINS = "RefusedAdminAuthentications"
TOLERATED_PER_5_MIN = 10


def alarm_on_refused_admins(scope: Construct, *, log: logs.ILogGroup) -> cloudwatch.Alarm:
    """Counts failed admin authentications in the admin function's log; more than ten in five minutes is an alarm."""
    counted = logs.MetricFilter(
        scope,
        REFUSED_ADMINS,
        log_group=log,
        filter_pattern=logs.FilterPattern.string_value("$.message", "=", ADMIN_AUTHENTICATION_FAILED),
        metric_namespace=NAMESPACE,
        metric_name=REFUSED_ADMINS,
        metric_value="1",
    )
    return cloudwatch.Alarm(
        scope,
        REFUSED_ADMINS + "Alarm",
        alarm_description="Somebody is trying admin tokens that are not valid.",
        metric=counted.metric(statistic=cloudwatch.Stats.SUM, period=Duration.minutes(5)),
        threshold=TOLERATED_PER_5_MIN,
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
        evaluation_periods=1,
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
    )
