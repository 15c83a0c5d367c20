"""What holds in the tables between any two writes, read off the raw rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from shared.adapters import credential_items, origins
from shared.adapters.attributes import Item
from shared.domain.names import name_key
from tests.contract.worlds import StoreWorld


@dataclass(frozen=True)
class Rows:
    """All rows of one table, by partition."""

    items: list[Item]

    def of(self, partition: str) -> list[Item]:
        return [item for item in self.items if item["pk"]["S"] == partition]

    def beginning(self, prefix: str) -> list[Item]:
        return [item for item in self.items if item["pk"]["S"].startswith(prefix)]


def rows_in(world: StoreWorld, table: str) -> Rows:
    pages = world.clients.dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
    return Rows([item for page in pages for item in page["Items"]])


def check_invariants(world: StoreWorld) -> int:
    """Fails where anything is half written. Returns the number of writes that were found, all of them whole."""
    public, internal = rows_in(world, world.public_table), rows_in(world, world.internal_table)
    audit = internal.of("AUDIT")
    for rows, prefix in ((public, "provider/cs_"), (internal, "provider/ao_")):
        _check_registrations(rows, [line for line in audit if line["resource"]["S"].startswith(prefix)])
    credentials = public.of("CREDENTIAL") + internal.of("CREDENTIAL")
    _check_history(credentials, [line for line in audit if line["resource"]["S"].startswith("credential/")])
    _check_origins(public)
    _check_idempotency(audit, rows_in(world, world.internal_ledger).beginning("IDEMPOTENCY#"))
    return len(audit)


def _check_registrations(rows: Rows, audit: list[Item]) -> None:
    providers = rows.of("PROVIDER")
    names = {item["sk"]["S"]: item["provider_id"]["S"] for item in rows.of("NAME")}
    assert names == {name_key(item["name"]["S"]): item["sk"]["S"] for item in providers}
    [counted] = rows.of("GENERATION") or [{"generation": {"N": "0"}, "provider_count": {"N": "0"}}]
    assert int(counted["provider_count"]["N"]) == len(providers)
    assert int(counted["generation"]["N"]) == len(audit), "each write moves the generation once and has one line"
    _check_history(providers, audit)


def _check_history(things: list[Item], audit: list[Item]) -> None:
    """Each thing is exactly what its lines of the audit say: there or not, and of which generation."""
    acts = Counter((_id_of(line), line["action"]["S"]) for line in audit)
    there = {thing["sk"]["S"]: int(thing["generation"]["N"]) for thing in things}
    expected = {
        thing_id: 1 + acts[thing_id, "updated"]
        for thing_id, action in acts
        if action == "created" and not acts[thing_id, "deleted"]
    }
    assert there == expected


def _check_origins(public: Rows) -> None:
    credentials = [credential_items.credential_of(item) for item in public.of("CREDENTIAL")]
    wanted = [row for credential in credentials for row in origins.rows_of(credential).values()]
    assert _sorted(public.beginning("ORIGIN#")) == _sorted(wanted)


def _check_idempotency(audit: list[Item], records: list[Item]) -> None:
    created = sorted(_id_of(line) for line in audit if line["action"]["S"] == "created")
    assert sorted(record["resource_id"]["S"] for record in records) == created


def _id_of(line: Item) -> str:
    return line["resource"]["S"].partition("/")[2]


def _sorted(rows: Iterable[Item]) -> list[str]:
    return sorted(str(sorted(row.items())) for row in rows)
