"""Where things lie: the adapters and the table list agree, and the customer lane's modules know of nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import grimp
import pytest

from infra import tables
from shared.adapters import keys
from shared.adapters.admin_guard import ROOT
from shared.adapters.audit_items import AUDIT
from shared.adapters.binding_parts import BINDING_TARGETS
from shared.adapters.circuit_items import CIRCUITS
from shared.adapters.credential_items import CREDENTIALS
from shared.adapters.credential_keys import FINGERPRINT_KEY
from shared.adapters.credential_rows import CREDENTIAL_USES
from shared.adapters.generations import GENERATION
from shared.adapters.health_items import HEALTH
from shared.adapters.idempotency_items import IDEMPOTENCY
from shared.adapters.instance_items import INSTANCES
from shared.adapters.journal_items import HISTORY
from shared.adapters.name_parts import INSTANCE_NAMES, PROVIDER_NAMES
from shared.adapters.origins import ORIGIN
from shared.adapters.rate_limits import RATE
from shared.adapters.source_items import PROVIDERS
from tests.contract.invariants import rows_in
from tests.contract.root_switches import turn_root
from tests.contract.worlds import StoreWorld
from tests.contract.writer import instance_life, provider_life, widget_life

CUSTOMER_MODULES = [
    f"shared.adapters.{name}"
    for name in (
        "customer_catalog",
        "credentials",
        "origins",
        "rate_limits",
        "secret_box",
        "aws",
        "circuits",
        "journal",
    )
]
FOREIGN_MODULES = {
    f"shared.adapters.{name}"
    for name in (
        "catalog",
        "registry",
        "instances",
        "credential_keys",
        "credential_store",
        "audit_log",
        "idempotency",
        "root_secret",
        "transactions",
    )
}


def test_the_keys_are_those_that_the_tables_are_made_with() -> None:
    assert (keys.PARTITION_KEY, keys.SORT_KEY, keys.EXPIRES_AT) == (
        tables.PARTITION_KEY,
        tables.SORT_KEY,
        tables.TTL_ATTRIBUTE,
    )


PARTITIONS = [PROVIDERS, GENERATION, CREDENTIALS, ORIGIN, ROOT, AUDIT, RATE, IDEMPOTENCY]
KEPT_OF_HEALTH = [CIRCUITS, HISTORY, HEALTH]
NAMES = [PROVIDER_NAMES.partition, INSTANCE_NAMES.partition]


@pytest.mark.parametrize(
    "partition", [*PARTITIONS, *NAMES, INSTANCES, BINDING_TARGETS, CREDENTIAL_USES, FINGERPRINT_KEY, *KEPT_OF_HEALTH]
)
def test_every_partition_is_in_the_list_of_tables(partition: str) -> None:
    assert re.search(rf"\b{re.escape(partition)}", tables.__doc__)


@pytest.mark.emulator
async def test_each_table_holds_what_the_list_says(store: StoreWorld) -> None:
    for internal in (True, False):
        await provider_life(store, name="One", internal=internal)
        await instance_life(store, name="One", internal=internal)
    await store.credential_keys().key_of(credential="one")
    await widget_life(store, name="Widget 1")
    await turn_root(store.credential_store(), on=True)
    await store.rate_limits().count("one")

    def partitions(table: str) -> set[str]:
        return {re.sub("#.*", "#", item["pk"]["S"]) for item in rows_in(store, table).items}

    registered = {PROVIDERS, INSTANCES, BINDING_TARGETS, GENERATION, *NAMES}
    assert partitions(store.public_table) == registered | {CREDENTIALS, ORIGIN}
    assert partitions(store.internal_table) == {GENERATION, ROOT, AUDIT, CREDENTIAL_USES, FINGERPRINT_KEY}
    assert partitions(store.public_ledger) == {RATE}
    assert partitions(store.internal_ledger) == {IDEMPOTENCY}


def _reached_from(module: str) -> set[str]:
    graph = grimp.build_graph("shared", cache_dir=None)
    return {module} | graph.find_upstream_modules(module)


@pytest.mark.parametrize("module", CUSTOMER_MODULES)
def test_the_customer_lane_reaches_no_module_of_the_agent_lane(module: str) -> None:
    assert not _reached_from(module) & FOREIGN_MODULES


@pytest.mark.parametrize("module", CUSTOMER_MODULES)
def test_no_module_of_the_customer_lane_names_an_internal_table(module: str) -> None:
    for reached in _reached_from(module):
        path = Path(__file__).parents[2] / (reached.replace(".", "/") + ".py")
        if path.is_file() and reached.startswith("shared.adapters."):
            assert "internal" not in path.read_text(), path
