"""What a second deployment changes, and what it must leave as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import boto3

from infra.pools import POOL_VARIABLES
from infra.rehearsal.searches import Callers
from infra.rehearsal.steps import Failed
from infra.tables import TABLES

BEFORE, AFTER = "rehearsed", "rehearsed-again"


def release_told(callers: Callers) -> str:
    """By the function that everybody may ask."""
    return str(callers.bearer("").call("GET", "/livez").body.get("release"))


@dataclass(frozen=True, slots=True)
class Kept:
    """What a stack holds: rows by table, secrets by name, everything under the names that the outputs give."""

    outputs: Mapping[str, str]
    rows: Mapping[str, int]
    secrets: Mapping[str, str]

    def must_be_as_in(self, before: Kept) -> str:
        """Raises `Failed`, by names alone. Rows that end by themselves may have done so."""
        if dict(self.outputs) != dict(before.outputs):
            raise Failed("The second deployment has other outputs: something was made anew.")
        changed = [name for name, value in self.secrets.items() if before.secrets[name] != value]
        emptied = [name for name, count in before.rows.items() if count and not self.rows[name]]
        if changed or emptied:
            raise Failed(f"The second deployment changed secrets ({changed}) or emptied tables ({emptied}).")
        return f"{len(self.secrets)} secrets, {sum(self.rows.values())} rows in {len(self.rows)} tables"


def what_is_kept(outputs: Mapping[str, str]) -> Kept:
    dynamodb, secrets = boto3.client("dynamodb"), boto3.client("secretsmanager")
    tables = [outputs[f"Table{_camel(table.name)}Name"] for table in TABLES]
    names = ["RootSecretArn", *(f"Pool{_camel(pool)}SecretArn" for pool in POOL_VARIABLES)]
    return Kept(
        outputs=outputs,
        rows={table: dynamodb.scan(TableName=table, Select="COUNT")["Count"] for table in tables},
        secrets={name: secrets.get_secret_value(SecretId=outputs[name])["SecretString"] for name in names},
    )


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))
