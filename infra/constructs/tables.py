"""The five tables."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from infra.constructs.names import camel, pin
from infra.tables import PARTITION_KEY, SORT_KEY, TABLES, TTL_ATTRIBUTE, Table


class Tables(Construct):
    """On demand, with point-in-time recovery and expiry. Encrypted with keys that AWS owns: nothing in a table is a
    secret in clear, so these cost nothing and cannot be lost.

    Unless `disposable`, tables are protected from deletion and stay when the stack goes.
    """

    def __init__(self, scope: Construct, name: str, *, disposable: bool) -> None:
        super().__init__(scope, name)
        self._tables = {table: self._make(table, disposable=disposable) for table in TABLES}

    def __getitem__(self, table: Table) -> dynamodb.TableV2:
        return self._tables[table]

    def _make(self, table: Table, *, disposable: bool) -> dynamodb.TableV2:
        made = dynamodb.TableV2(
            self,
            camel(table.name),
            partition_key=dynamodb.Attribute(name=PARTITION_KEY, type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name=SORT_KEY, type=dynamodb.AttributeType.STRING),
            billing=dynamodb.Billing.on_demand(),
            encryption=dynamodb.TableEncryptionV2.dynamo_owned_key(),
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            time_to_live_attribute=TTL_ATTRIBUTE,
            deletion_protection=not disposable,
            removal_policy=RemovalPolicy.DESTROY if disposable else RemovalPolicy.RETAIN,
        )
        pin(made, "Table" + camel(table.name))
        return made
