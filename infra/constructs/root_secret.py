"""The secret of the first admin."""

from __future__ import annotations

import string

from aws_cdk import RemovalPolicy
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.constructs.names import pin


class RootSecret(Construct):
    """64 hex digits, made by Secrets Manager when the stack is created; no template and no variable holds them.

    Never change how it is generated: CloudFormation would make a new one at the next deployment.
    """

    def __init__(self, scope: Construct, name: str, *, disposable: bool) -> None:
        super().__init__(scope, name)
        secret = secretsmanager.Secret(
            self,
            "Secret",
            description="The secret part of the root admin token.",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                password_length=64,
                # Spelled out in full: not every backend knows the flags.
                exclude_characters=string.ascii_uppercase + "ghijklmnopqrstuvwxyz" + string.punctuation,
                exclude_uppercase=True,
                exclude_punctuation=True,
                include_space=False,
                require_each_included_type=False,
            ),
            removal_policy=RemovalPolicy.DESTROY if disposable else RemovalPolicy.RETAIN,
        )
        pin(secret, "RootSecret")
        resource = secret.node.default_child
        assert isinstance(resource, secretsmanager.CfnSecret)  # noqa: S101  # what the construct is made of
        self.arn = resource.attr_id
