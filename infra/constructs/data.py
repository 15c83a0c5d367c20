"""Everything that holds data, as one thing to pass around."""

from __future__ import annotations

from dataclasses import dataclass

from infra.constructs.keys import Keys
from infra.constructs.pool_secrets import PoolSecrets
from infra.constructs.root_secret import RootSecret
from infra.constructs.tables import Tables


@dataclass(frozen=True, slots=True)
class Data:
    tables: Tables
    keys: Keys
    root_secret: RootSecret
    pool_secrets: PoolSecrets
