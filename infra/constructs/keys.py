"""The two keys, one for each exposure profile. They seal signing secrets and instance credentials, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.constructs.names import pin
from infra.functions import INTERNAL, PUBLIC, Function
from shared.domain.exposure import ExposureProfile

NAMES = {PUBLIC: "Public", INTERNAL: "Internal"}

# What the account's administrators may do with a key. Using it is not among them, nor is granting its use:
# `kms:*` for the account would let any role with a broad policy of its own decrypt.
ADMINISTRATION = (
    "kms:CancelKeyDeletion",
    "kms:CreateAlias",
    "kms:DeleteAlias",
    "kms:DescribeKey",
    "kms:DisableKey",
    "kms:DisableKeyRotation",
    "kms:EnableKey",
    "kms:EnableKeyRotation",
    "kms:GetKeyPolicy",
    "kms:GetKeyRotationStatus",
    "kms:ListGrants",
    "kms:ListKeyPolicies",
    "kms:ListKeyRotations",
    "kms:ListResourceTags",
    "kms:ListRetirableGrants",
    "kms:PutKeyPolicy",
    "kms:RevokeGrant",
    "kms:RotateKeyOnDemand",
    "kms:ScheduleKeyDeletion",
    "kms:TagResource",
    "kms:UntagResource",
    "kms:UpdateAlias",
    "kms:UpdateKeyDescription",
)


class Keys(Construct):
    """Rotated yearly. A key's policy names the roles that may use it, each under the exposure's encryption context."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        roles: Mapping[str, iam.Role],
        functions: Iterable[Function],
        disposable: bool,
    ) -> None:
        super().__init__(scope, name)
        users = tuple(functions)
        self._keys = {
            exposure: self._make(exposure, users=users, roles=roles, disposable=disposable) for exposure in NAMES
        }

    def __getitem__(self, exposure: ExposureProfile) -> kms.Key:
        return self._keys[exposure]

    def _make(
        self,
        exposure: ExposureProfile,
        *,
        users: tuple[Function, ...],
        roles: Mapping[str, iam.Role],
        disposable: bool,
    ) -> kms.Key:
        key = kms.Key(
            self,
            NAMES[exposure],
            alias=f"alias/{Stack.of(self).stack_name}-{NAMES[exposure].lower()}",
            description=f"Seals the secrets of {exposure} providers.",
            enable_key_rotation=True,
            pending_window=Duration.days(7 if disposable else 30),
            policy=iam.PolicyDocument(statements=[_administration(), *_uses(exposure, users=users, roles=roles)]),
            removal_policy=RemovalPolicy.DESTROY if disposable else RemovalPolicy.RETAIN,
        )
        pin(key, "Key" + NAMES[exposure])
        return key


def sealed_for(exposure: ExposureProfile) -> dict[str, dict[str, str]]:
    """The condition under which a key may be used: the ciphertext was sealed for this exposure."""
    return {"StringEquals": {"kms:EncryptionContext:exposure": str(exposure)}}


def _administration() -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid="Administration",
        principals=[iam.AccountRootPrincipal()],
        actions=list(ADMINISTRATION),
        resources=["*"],
    )


def _uses(
    exposure: ExposureProfile, *, users: tuple[Function, ...], roles: Mapping[str, iam.Role]
) -> list[iam.PolicyStatement]:
    return [
        iam.PolicyStatement(
            sid=function.name.capitalize(),
            principals=[iam.ArnPrincipal(roles[function.name].role_arn)],
            actions=[f"kms:{action}" for action in grant.actions],
            resources=["*"],
            conditions=sealed_for(exposure),
        )
        for function in users
        for grant in function.key_grants
        if grant.exposure is exposure
    ]
