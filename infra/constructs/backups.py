"""Backups of the five tables that outlive the tables, beside their recovery to any second of the last 35 days."""

from __future__ import annotations

from aws_cdk import Aws, Fn, RemovalPolicy, Stack
from aws_cdk import aws_backup as backup
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.constructs.names import pin
from infra.constructs.tables import Tables
from infra.switches import Switches
from infra.tables import TABLES

KEPT_FOR_DAYS = 35
EVERY_NIGHT = "cron(0 3 * * ? *)"


class Backups(Construct):
    """Every night into a vault of the stack's own. The role may back these tables up and cannot restore anything."""

    def __init__(self, scope: Construct, name: str, *, tables: Tables, switches: Switches) -> None:
        super().__init__(scope, name)
        arns = [tables[table].table_arn for table in TABLES]
        vault = self._vault(switches)
        rule = backup.CfnBackupPlan.BackupRuleResourceTypeProperty(
            rule_name="EveryNight",
            target_backup_vault=vault.ref,
            schedule_expression=EVERY_NIGHT,
            lifecycle=backup.CfnBackupPlan.LifecycleResourceTypeProperty(delete_after_days=KEPT_FOR_DAYS),
        )
        plan = backup.CfnBackupPlan(
            self,
            "Plan",
            backup_plan=backup.CfnBackupPlan.BackupPlanResourceTypeProperty(
                backup_plan_name=Stack.of(self).stack_name, backup_plan_rule=[rule]
            ),
        )
        role = self._role(arns, vault)
        selection = backup.CfnBackupSelection(
            self,
            "Selection",
            backup_plan_id=plan.ref,
            backup_selection=backup.CfnBackupSelection.BackupSelectionResourceTypeProperty(
                selection_name="Tables", iam_role_arn=role.role_arn, resources=arns
            ),
        )
        pin(plan, "BackupPlan")
        pin(selection, "BackupSelection")
        self.vault_name = vault.ref

    def _vault(self, switches: Switches) -> backup.CfnBackupVault:
        """Its name is never that of a vault which an earlier stack of this name has left."""
        own_part = Fn.select(0, Fn.split("-", Fn.select(2, Fn.split("/", Aws.STACK_ID))))
        vault = backup.CfnBackupVault(self, "Vault", backup_vault_name=f"{Stack.of(self).stack_name}-{own_part}")
        vault.apply_removal_policy(RemovalPolicy.DESTROY if switches.disposable else RemovalPolicy.RETAIN)
        pin(vault, "BackupVault")
        return vault

    def _role(self, table_arns: list[str], vault: backup.CfnBackupVault) -> iam.Role:
        statements = [
            iam.PolicyStatement(
                actions=[
                    "dynamodb:CreateBackup",
                    "dynamodb:DescribeTable",
                    "dynamodb:ListTagsOfResource",
                    "dynamodb:StartAwsBackupJob",
                ],
                resources=table_arns,
            ),
            iam.PolicyStatement(
                actions=["dynamodb:DeleteBackup", "dynamodb:DescribeBackup"],
                resources=[f"{arn}/backup/*" for arn in table_arns],
            ),
            iam.PolicyStatement(
                actions=["backup:CopyIntoBackupVault", "backup:DescribeBackupVault"],
                resources=[vault.attr_backup_vault_arn],
            ),
        ]
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(
                "backup.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
            ),
            inline_policies={"Backup": iam.PolicyDocument(statements=statements)},
        )
        pin(role, "RoleBackup")
        return role
