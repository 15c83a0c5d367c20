"""Logs, all kept alike."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.constructs.names import pin
from infra.switches import Switches


def log_group(scope: Construct, name: str, *, logical_id: str, switches: Switches) -> logs.LogGroup:
    """Kept for `log_retention_days`. It stays when the stack goes, unless that is disposable."""
    made = logs.LogGroup(
        scope, name, removal_policy=RemovalPolicy.DESTROY if switches.disposable else RemovalPolicy.RETAIN
    )
    resource = made.node.default_child
    assert isinstance(resource, logs.CfnLogGroup)  # noqa: S101  # what the construct is made of
    resource.retention_in_days = switches.log_retention_days
    pin(made, logical_id)
    return made
