"""The secrets that hold the numbered keys of the hosted live services, one for each pool."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.constructs.names import camel, pin
from infra.pools import NO_KEYS, POOL_VARIABLES
from shared.domain.pools import Pool


class PoolSecrets(Construct):
    """Each is made once, with no keys in it, and sealed with the account's own key for secrets. Operators fill it.

    Never change or generate the value here: CloudFormation would write it over the operators' keys.
    """

    def __init__(self, scope: Construct, name: str, *, disposable: bool) -> None:
        super().__init__(scope, name)
        self._secrets = {pool: self._make(pool, disposable=disposable) for pool in POOL_VARIABLES}

    def __getitem__(self, pool: Pool) -> str:
        """The secret's ARN."""
        return self._secrets[pool].attr_id

    def _make(self, pool: Pool, *, disposable: bool) -> secretsmanager.CfnSecret:
        # The construct one level up generates a value where it is given none, and warns about any that it is given.
        secret = secretsmanager.CfnSecret(
            self, camel(pool), description=f"The numbered keys of the pool {pool}.", secret_string=NO_KEYS
        )
        secret.apply_removal_policy(RemovalPolicy.DESTROY if disposable else RemovalPolicy.RETAIN)
        pin(secret, "Pool" + camel(pool))
        return secret
