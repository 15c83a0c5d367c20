"""What holds in the tables between any two writes, read off the raw rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from shared.adapters import credential_items, origins
from shared.adapters.attributes import Item
from shared.domain.names import name_key
from tests.contract.instance_invariants import check_bindings_history, check_instances, check_uses
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
    pages = world.clients.raw.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
    return Rows([item for page in pages for item in page["Items"]])


def check_invariants(world: StoreWorld) -> int:
    """Fails where anything is half written. Returns the number of writes that were found, all of them whole."""
    public, internal = rows_in(world, world.public_table), rows_in(world, world.internal_table)
    audit = internal.of("AUDIT")
    for rows, prefix in ((public, "cs"), (internal, "ao")):
        _check_registrations(rows, [line for line in audit if _id_of(line).startswith((f"{prefix}_", f"{prefix}i_"))])
    owners = [item for rows in (public, internal) for item in (*rows.of("INSTANCE"), *rows.of("PROVIDER"))]
    check_uses(internal.of("INSTANCE_CREDENTIAL"), owners)
    credentials = public.of("CREDENTIAL") + internal.of("CREDENTIAL")
    _check_history(credentials, [line for line in audit if line["resource"]["S"].startswith("credential/")])
    _check_origins(public)
    _check_idempotency(audit, rows_in(world, world.internal_ledger).beginning("IDEMPOTENCY#"))
    return len(audit)


def _check_registrations(rows: Rows, audit: list[Item]) -> None:
    providers, instances = rows.of("PROVIDER"), rows.of("INSTANCE")
    names = {item["sk"]["S"]: item["provider_id"]["S"] for item in rows.of("NAME")}
    assert names == {name_key(item["name"]["S"]): item["sk"]["S"] for item in providers}
    [counted] = rows.of("GENERATION") or [{}]
    counts = {
        name: int(counted.get(name, {"N": "0"})["N"]) for name in ("generation", "provider_count", "instance_count")
    }
    assert (counts["provider_count"], counts["instance_count"]) == (len(providers), len(instances))
    assert counts["generation"] == len(audit), "each write moves the generation once and has one line"
    _check_history([item for item in providers if "binding" not in item], _about("provider/", audit))
    _check_history(instances, _about("instance/", audit))
    check_instances(instances, providers, rows.of("INSTANCE_NAME"), rows.of("BINDING_TARGET"))
    check_bindings_history(audit, providers, instances)


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


def _about(prefix: str, audit: list[Item]) -> list[Item]:
    return [line for line in audit if line["resource"]["S"].startswith(prefix)]


def _id_of(line: Item) -> str:
    return line["resource"]["S"].partition("/")[2]


def _sorted(rows: Iterable[Item]) -> list[str]:
    return sorted(str(sorted(row.items())) for row in rows)
