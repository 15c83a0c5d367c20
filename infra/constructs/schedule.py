"""What runs by the clock."""

from __future__ import annotations

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from infra.constructs.names import camel, pin
from infra.functions import Function


def run_by_the_clock(scope: Construct, function: Function, *, target: lambda_.IFunction) -> None:
    """Invokes the function every `every_min` minutes, by a role that may do that and nothing else.

    A run that fails is not repeated: the next one goes on where it stopped.
    """
    name = camel(function.name)
    invokes = iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[target.function_arn])
    role = iam.Role(
        scope,
        f"{name}Clock",
        assumed_by=iam.ServicePrincipal(
            "scheduler.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
        ),
        inline_policies={"Invoke": iam.PolicyDocument(statements=[invokes])},
    )
    pin(role, f"Role{name}Clock")
    schedule = scheduler.CfnSchedule(
        scope,
        f"{name}Schedule",
        description=f"Runs the {function.name} function.",
        schedule_expression=f"rate({function.every_min} minutes)",
        flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
        target=scheduler.CfnSchedule.TargetProperty(
            arn=target.function_arn,
            role_arn=role.role_arn,
            input="{}",
            retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(maximum_retry_attempts=0),
        ),
    )
    pin(schedule, f"Schedule{name}")
