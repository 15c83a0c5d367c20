"""Where alarms go."""

from __future__ import annotations

from aws_cdk import Aws
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.constructs.names import pin


class AlarmTarget(Construct):
    """Tells a topic when an alarm begins and when it ends: a topic of the stack's own with one e-mail address, or the
    operator's. With neither alarms are only shown.

    The own topic is not sealed with a key: alarms hold names and numbers alone, and CloudWatch may not use the key that
    AWS keeps for topics.
    """

    def __init__(self, scope: Construct, name: str, *, email: str, topic_arn: str) -> None:
        super().__init__(scope, name)
        self.topic: sns.ITopic | None = None
        if topic_arn:
            self.topic = sns.Topic.from_topic_arn(self, "Topic", topic_arn)
        elif email:
            self.topic = self._make(email)

    def tell_of(self, *alarms: cloudwatch.AlarmBase) -> None:
        if self.topic is None:
            return
        for alarm in alarms:
            alarm.add_alarm_action(actions.SnsAction(self.topic))
            alarm.add_ok_action(actions.SnsAction(self.topic))

    def _make(self, email: str) -> sns.Topic:
        topic = sns.Topic(self, "Topic", display_name="Knowledge Gateway", enforce_ssl=True)
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="Alarms",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            )
        )
        subscription = sns.CfnSubscription(self, "Email", topic_arn=topic.topic_arn, protocol="email", endpoint=email)
        pin(topic, "AlarmTopic")
        pin(subscription, "AlarmEmail")
        return topic
