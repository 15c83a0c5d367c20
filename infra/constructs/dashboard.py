"""The dashboard of the stack. What it shows is in `infra.panels`."""

from __future__ import annotations

from aws_cdk import Aws, Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.alarms import Reading
from infra.constructs.metrics import Sources, metric_of
from infra.constructs.names import pin
from infra.panels import ROWS, Found, Panel, Shown
from infra.watching import METRICS, Emitted

_PERIOD = Duration.minutes(5)
_PANEL_WIDTH, _PANEL_HEIGHT, _WIDTH = 8, 6, 24


def make_dashboard(scope: Construct, sources: Sources) -> cloudwatch.Dashboard:
    dashboard = cloudwatch.Dashboard(
        scope, "Dashboard", dashboard_name=Aws.STACK_NAME, default_interval=Duration.hours(12)
    )
    pin(dashboard, "Dashboard")
    for row in ROWS:
        dashboard.add_widgets(cloudwatch.TextWidget(markdown=row.note, width=_WIDTH, height=1))
        dashboard.add_widgets(*(_widget(panel, sources) for panel in row.panels))
    return dashboard


def _widget(panel: Panel, sources: Sources) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(
        title=panel.title,
        left=[_line(shown, sources) for shown in panel.shown],
        stacked=panel.is_stacked,
        width=_PANEL_WIDTH,
        height=_PANEL_HEIGHT,
        period=_PERIOD,
    )


def _line(shown: Shown, sources: Sources) -> cloudwatch.IMetric:
    if isinstance(shown, Found):
        return _found(shown)
    return _read(shown, sources)


def _read(reading: Reading, sources: Sources) -> cloudwatch.IMetric:
    label = reading.id if reading.statistic in ("Sum", "Maximum") else f"{reading.id} {reading.statistic}"
    return metric_of(reading, sources, period=_PERIOD).with_(label=label)


def _found(found: Found) -> cloudwatch.IMetric:
    metric = METRICS[found.metric]
    if not isinstance(metric, Emitted):
        raise TypeError(f"{found.metric} has no fixed dimensions")
    schema = ",".join((f'"{Aws.STACK_NAME}"', *metric.dimensions))
    wanted = f'{{{schema}}} MetricName="{metric.name}" {found.dimension}="{found.value}"'
    return cloudwatch.MathExpression(
        expression=f"{found.together}(SEARCH('{wanted}', '{found.statistic}', {_PERIOD.to_seconds()}))",
        using_metrics={},
        label=found.value,
        period=_PERIOD,
    )
