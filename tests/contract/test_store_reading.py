"""Reading fails closed: what does not plainly say that it belongs here is left out, and old copies are never used."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from shared.adapters import provider_items, rows, unreadable
from shared.adapters.catalog import DynamoCatalog
from shared.adapters.customer_catalog import DynamoCustomerCatalog
from shared.adapters.row_reads import RowReads
from shared.domain.exposure import CredentialClass
from shared.domain.registrations import Provider, ProviderStatus
from shared.domain.root import RootSwitch
from shared.errors import Unavailable
from tests.contract.far_ahead import a_change, an_idempotency_record
from tests.contract.root_switches import turn_root
from tests.contract.stubs import Meddling
from tests.contract.worlds import StoreWorld
from tests.support.builders import a_credential, a_provider, an_internal_provider

pytestmark = pytest.mark.emulator

REMOVED = "(removed)"


async def _registered(store: StoreWorld, *providers: Provider) -> None:
    for provider in providers:
        await store.registry().create(provider, a_change())


def _spoil(store: StoreWorld, table: str, partition: str, sort: str, **over: Any) -> None:
    """Changes a row behind everybody's back."""
    client = store.clients.dynamodb
    item = client.get_item(TableName=table, Key={"pk": {"S": partition}, "sk": {"S": sort}})["Item"] | over
    client.put_item(TableName=table, Item={name: value for name, value in item.items() if value is not REMOVED})


@pytest.mark.parametrize(
    "over",
    [
        {"exposure_profile": {"S": "agent_only"}},
        {"exposure_profile": {"S": "CUSTOMER_SAFE"}},
        {"exposure_profile": {"BOOL": True}},
        {"exposure_profile": REMOVED},
        {"kind": {"S": "telepathy"}},
        {"signing": REMOVED},
        {"signing": {"M": {"fingerprint": {"S": "x"}}}},
        {"generation": {"S": "1"}},
        {"allow_private_network": {"S": "false"}},
        {"capabilities": {"M": {"locale": {"S": "yes"}}}},
    ],
    ids=str,
)
async def test_an_item_that_cannot_be_trusted_is_in_no_lane(store: StoreWorld, over: dict[str, Any]) -> None:
    good, bad = a_provider(), a_provider()
    await _registered(store, good, bad)
    _spoil(store, store.public_table, "PROVIDER", bad.id, **over)
    assert await store.catalog().providers() == (good,)
    assert [one.source for one in await store.customer_catalog().sources()] == [good.source]
    assert await store.registry().get(bad.id) is None


@pytest.mark.parametrize("status", [{"S": "ACTIVE"}, {"S": "enabled"}, {"BOOL": True}, REMOVED], ids=str)
async def test_only_a_source_that_says_active_is_in_the_customer_lane(store: StoreWorld, status: Any) -> None:
    provider = a_provider()
    await _registered(store, provider)
    _spoil(store, store.public_table, "PROVIDER", provider.id, status=status)
    assert await store.customer_catalog().sources() == ()


async def test_an_internal_item_in_the_public_table_is_in_no_lane(store: StoreWorld) -> None:
    """Not even one that says customer_safe of itself: its id says otherwise."""
    await _registered(store, a_provider(status=ProviderStatus.DISABLED))
    for over in ({}, {"exposure_profile": {"S": "customer_safe"}}):
        stray = provider_items.item_of(an_internal_provider()) | over
        store.clients.dynamodb.put_item(TableName=store.public_table, Item=stray)
    assert await store.customer_catalog().sources() == ()
    assert len(await store.catalog().providers()) == 1


async def test_a_customer_safe_item_in_the_internal_table_is_in_no_lane(store: StoreWorld) -> None:
    await _registered(store, an_internal_provider())
    stray = provider_items.item_of(a_provider())
    store.clients.dynamodb.put_item(TableName=store.internal_table, Item=stray)
    assert len(await store.catalog().providers()) == 1
    assert await store.customer_catalog().sources() == ()


async def test_a_missing_generation_closes_the_lane(store: StoreWorld) -> None:
    await _registered(store, a_provider(), an_internal_provider())
    store.clients.dynamodb.delete_item(TableName=store.public_table, Key={"pk": {"S": "GENERATION"}, "sk": {"S": "-"}})
    assert await store.customer_catalog().sources() == ()
    assert len(await store.catalog().providers()) == 1


async def test_an_unreadable_generation_is_unavailable(store: StoreWorld) -> None:
    await _registered(store, a_provider())
    _spoil(store, store.public_table, "GENERATION", "-", generation={"S": "many"})
    for read in (store.customer_catalog().sources, store.catalog().providers):
        with pytest.raises(Unavailable):
            await read()


async def test_what_is_left_out_is_noted_by_its_key_alone(store: StoreWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = a_provider()
    await _registered(store, provider)
    _spoil(store, store.public_table, "PROVIDER", provider.id, kind={"S": "telepathy"})
    noted: list[dict[str, Any]] = []
    monkeypatch.setattr(unreadable._logger, "error", lambda event, **fields: noted.append({"event": event, **fields}))
    await store.customer_catalog().sources()
    assert noted == [{"event": "store.item_unreadable", "row": f"PROVIDER/{provider.id}"}]


@pytest.mark.parametrize(
    "over",
    [
        {"grants": {"L": [{"S": "knowledge:read_everything"}]}},
        {"class": {"S": "root"}},
        {"digest": {"B": b"short"}},
        {"status": REMOVED},
        {"valid_until": {"S": "never"}},
    ],
    ids=str,
)
async def test_a_credential_that_cannot_be_read_is_nobody(store: StoreWorld, over: dict[str, Any]) -> None:
    good, bad = a_credential(), a_credential()
    for credential in (good, bad):
        await store.credential_store().create(credential, a_change())
    _spoil(store, store.internal_table, "CREDENTIAL", bad.id, **over)
    assert await store.credentials().find(bad.id) is None
    assert (await store.credential_store().page(limit=10, after=None)).items == (good,)


async def test_an_unreadable_idempotency_record_is_not_taken_for_absent(store: StoreWorld) -> None:
    record = an_idempotency_record()
    await store.credential_store().create(a_credential(), a_change(idempotency=record))
    _spoil(store, store.internal_ledger, f"IDEMPOTENCY#{record.key}", "-", body_hash=REMOVED)
    with pytest.raises(Unavailable):
        await store.idempotency().find(record.key)


@pytest.mark.parametrize(
    "spoiled", [{"enabled": {"S": "yes"}}, {"enabled": REMOVED}, {"generation": {"S": "2"}}], ids=str
)
async def test_an_unreadable_root_switch_is_unavailable(store: StoreWorld, spoiled: dict[str, Any]) -> None:
    await turn_root(store.credential_store(), on=True)
    _spoil(store, store.internal_table, "ROOT", "-", **spoiled)
    with pytest.raises(Unavailable):
        await store.credential_store().root_switch()


async def test_a_root_switch_from_before_there_were_generations_is_its_first(store: StoreWorld) -> None:
    await turn_root(store.credential_store(), on=True)
    _spoil(store, store.internal_table, "ROOT", "-", generation=REMOVED, enabled={"BOOL": False})
    assert await store.credential_store().root_switch() == RootSwitch(is_on=False, generation=1)
    await turn_root(store.credential_store(), on=True)
    assert await store.credential_store().root_switch() == RootSwitch(is_on=True, generation=2)


async def test_pages_reach_what_lies_behind_many_unreadable_items(store: StoreWorld) -> None:
    providers = sorted((a_provider() for _ in range(20)), key=lambda provider: provider.id)
    await _registered(store, *providers)
    for bad in providers[:14]:
        _spoil(store, store.public_table, "PROVIDER", bad.id, kind={"S": "telepathy"})
    seen, after = [], None
    for _ in range(3):
        page = await store.registry().page(limit=2, after=after)
        seen += page.items
        after = page.next_after
    assert seen == providers[14:]
    assert after is None


async def test_a_partition_is_followed_over_all_its_pages(store: StoreWorld) -> None:
    providers = [a_provider() for _ in range(7)]
    await _registered(store, *providers)
    client = Meddling(store.clients.dynamodb, "query", lambda: None)
    found = [item["sk"]["S"] for item in rows.rows(client, store.public_table, "PROVIDER", page_rows=2)]
    assert found == sorted(provider.id for provider in providers)
    assert len(client.calls) >= 4


async def test_a_big_partition_is_read_to_its_end(store: StoreWorld) -> None:
    """A page of the store ends after a mebibyte, however many rows were asked for."""
    for number in range(5):
        row = {"pk": {"S": "PROVIDER"}, "sk": {"S": f"cs_{number}"}, "padding": {"S": "x" * 350_000}}
        store.clients.dynamodb.put_item(TableName=store.public_table, Item=row)
    assert len(list(rows.rows(store.clients.dynamodb, store.public_table, "PROVIDER"))) == 5


async def test_a_copy_is_used_while_its_generation_is_current(store: StoreWorld) -> None:
    await _registered(store, a_provider(), an_internal_provider())
    client = Meddling(store.clients.dynamodb, "query", lambda: None)
    reads = RowReads(client)
    catalog = DynamoCatalog(client, reads=reads, public_table=store.public_table, internal_table=store.internal_table)
    first = await catalog.providers()
    client.calls.clear()
    assert await catalog.providers() == first
    assert client.calls == ["batch_get_item"], "both generations in one read, and no more"
    await _registered(store, a_provider())
    client.calls.clear()
    assert len(await catalog.providers()) == 3
    assert client.calls.count("query") == 1, "the table whose generation stayed is not read again"


async def test_a_write_during_the_reading_is_read_as_well(store: StoreWorld) -> None:
    provider, late = a_provider(), a_provider()
    await _registered(store, provider)
    writes = iter([late])

    def write_beside() -> None:
        for one in writes:
            asyncio.run(store.registry().create(one, a_change()))

    client = Meddling(store.clients.dynamodb, "query", write_beside)
    sources = await DynamoCustomerCatalog(client, reads=RowReads(client), table=store.public_table).sources()
    assert [one.source for one in sources] == [provider.source, late.source]


async def test_under_constant_writes_an_answer_is_current_and_not_kept(store: StoreWorld) -> None:
    await _registered(store, a_provider())
    written = 1

    def write_beside() -> None:
        nonlocal written
        asyncio.run(store.registry().create(a_provider(), a_change()))
        written += 1

    client = Meddling(store.clients.dynamodb, "query", write_beside)
    catalog = DynamoCustomerCatalog(client, reads=RowReads(client), table=store.public_table)
    before = written
    assert len(await catalog.sources()) >= before
    queries = client.calls.count("query")
    assert queries <= 3
    await catalog.sources()
    assert client.calls.count("query") > queries


async def test_rows_that_end_carry_the_time_of_their_end(store: StoreWorld) -> None:
    """Whole seconds, so that the store can delete them by itself."""
    record = an_idempotency_record(expires_at=store.clock.now() + 86_400.5)
    widget = a_credential(credential_class=CredentialClass.PUBLIC, expires_at=store.clock.now() + 10.5)
    change = a_change(at=store.clock.now(), idempotency=record)
    await store.credential_store().create(widget, change)
    await store.rate_limits().count("one")

    def end_of(table: str, prefix: str) -> int:
        items = store.clients.raw.scan(TableName=table)["Items"]
        [row] = [item for item in items if item["pk"]["S"].startswith(prefix)]
        return int(row["expires_at"]["N"])

    now = int(store.clock.now())
    assert end_of(store.internal_ledger, "IDEMPOTENCY#") == now + 86_401
    assert end_of(store.public_table, "ORIGIN#") == now + 11
    assert end_of(store.internal_table, "AUDIT") == now + 400 * 86_400
    assert now < end_of(store.public_ledger, "RATE#") <= now + 3_600
