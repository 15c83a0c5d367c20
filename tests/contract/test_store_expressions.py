"""Every expression that the adapters send, held against the store's reserved words: no engine here knows them all."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shared import adapters
from shared.domain.alexandria import ReceiptState
from shared.domain.allowances import Review
from shared.domain.circuits import WELL, Circuit, Lane
from shared.domain.credentials import CredentialStatus
from shared.domain.exposure import CredentialClass
from shared.domain.health import ProbeRun
from shared.domain.key_pools import Rest
from shared.domain.pools import Pool
from shared.errors import Refused
from shared.ports.circuits import KnownCircuits
from tests.contract.far_ahead import a_change, an_idempotency_record
from tests.contract.root_switches import turn_root
from tests.contract.worlds import StoreWorld
from tests.contract.writer import instance_life
from tests.support.alexandria_fakes import a_receipt
from tests.support.builders import a_binding, a_credential, a_provider, an_instance
from tests.support.card_builders import a_card, a_collection

RESERVED = frozenset((Path(__file__).parent / "reserved_words.txt").read_text().split())
_OWN_WORDS = {
    "AND",
    "OR",
    "ADD",
    "DELETE",
    "NOT",
    "REMOVE",
    "SET",
    "attribute_exists",
    "attribute_not_exists",
    "contains",
    "size",
}
A_FAILURE = Circuit(revision="1", failures=1)
_BARE_WORD = re.compile(r"(?<![#:\w])[A-Za-z_]\w*")


async def _everything(world: StoreWorld) -> None:
    """Each operation that has an expression, in each of its forms."""
    registry, credentials = world.registry(), world.credential_store()
    provider = a_provider(name="One")
    await registry.create(provider, a_change(idempotency=an_idempotency_record()))
    renamed = provider.with_source(name="Two", generation=2)
    await registry.replace(renamed, expected_generation=1, change=a_change())
    await world.catalog().providers()
    await registry.page(limit=1, after="cs_")
    await registry.delete(renamed, expected_generation=2, change=a_change())
    widget = a_credential(credential_class=CredentialClass.PUBLIC)
    await credentials.create(widget, a_change())
    await world.origins().is_listed(widget.origins[0])
    admins = [a_credential(credential_class=CredentialClass.ADMIN) for _ in range(3)]
    for admin in admins:
        await credentials.create(admin, a_change())
    disabled = replace(admins[0], status=CredentialStatus.DISABLED, generation=2)
    await credentials.replace(disabled, expected_generation=1, change=a_change())
    await turn_root(credentials, on=False)
    await turn_root(credentials, on=False)
    await credentials.delete(admins[1], expected_generation=1, change=a_change())
    await world.audit_log().page(limit=1, after="2100")
    await world.rate_limits().count("somebody")
    await _pools(world)
    await _receipts(world)
    await _instances(world)
    await _cards(world)
    await _health(world)


async def _health(world: StoreWorld) -> None:
    circuits, book, now = world.circuits(Lane.AGENT), world.health_book(), world.clock.now()
    change = await circuits.change(lambda _known: {"cs_a": A_FAILURE, "cs_b": A_FAILURE}, known=KnownCircuits())
    await circuits.change(lambda _known: {"cs_a": WELL, "cs_b": replace(A_FAILURE, failures=2)}, known=change.known)
    await circuits.change(lambda _known: {"cs_b": WELL}, known=change.known)
    await book.begin("run", now=now, every_s=300.0, lease_s=60.0)
    await book.finish(ProbeRun(run_id="run", started_at=now))
    await book.records()
    await world.journal_reader(Lane.AGENT).latest("cs_a", limit=1)


async def _pools(world: StoreWorld) -> None:
    ledger, allowances, desk = world.pool_ledger(), world.allowances(), world.allowance_desk()
    for number in range(66):
        await ledger.rest(Pool.EXA, [f"{number:064x}"], Rest(world.clock.now() + 60, "rate"), active="0" * 64)
    await ledger.wake(Pool.EXA, ["0" * 64])
    await allowances.confirm(await allowances.reserve(Pool.EXA))
    await allowances.release(await allowances.reserve(Pool.EXA))
    await allowances.reserve(Pool.EXA)
    world.clock.advance(2 * 86_400)
    await ledger.rest(Pool.EXA, ["f" * 64], Rest(world.clock.now() + 60, "rate"), active=None)
    await desk.change(Pool.EXA, limit=1, review=Review(happened=1), expected_generation=0, change=a_change())
    with contextlib.suppress(Refused):
        await allowances.reserve(Pool.EXA)
    await desk.change(Pool.EXA, limit=2, review=Review(), expected_generation=1, change=a_change())


async def _receipts(world: StoreWorld) -> None:
    receipts, receipt = world.receipts(), a_receipt(started_at=world.clock.now())
    await receipts.begin(receipt)
    await receipts.settle(replace(receipt, state=ReceiptState.REFUSED))


async def _instances(world: StoreWorld) -> None:
    """Two with one credential, the second of which gives it up last."""
    await instance_life(world, name="Served", internal=True)
    await world.credential_keys().key_of(credential="one")
    registry, instances = world.registry(), world.instances()
    first, second = an_instance(), an_instance()
    for instance in (first, second):
        await instances.create(instance, a_change(), credential_key="shared")
    binding = a_binding(first)
    await registry.create(binding, a_change())
    renamed = binding.with_source(name="Renamed", generation=2)
    await registry.replace(renamed, expected_generation=1, change=a_change())
    await registry.delete(renamed, expected_generation=2, change=a_change())
    await _nameless(world)
    for instance in (first, second):
        changed = replace(instance, generation=2)
        await instances.replace(changed, expected_generation=1, change=a_change(), credential_key="other")
        await instances.delete(changed, expected_generation=2, change=a_change())


async def _nameless(world: StoreWorld) -> None:
    """A row that cannot be read, removed by its id."""
    provider = a_provider()
    place = {"pk": {"S": "PROVIDER"}, "sk": {"S": provider.id}}
    world.clients.dynamodb.put_item(TableName=world.public_table, Item=place)
    await world.registry().delete_unreadable(provider.id, change=a_change())


async def _cards(world: StoreWorld) -> None:
    store, collection = world.card_store(), a_collection(name="One")
    await store.create_collection(collection, a_change())
    renamed = replace(collection, name="Two", generation=2)
    await store.replace_collection(renamed, expected_generation=1, change=a_change())
    await store.collections(limit=1, after="csc_")
    first, second = a_card(collection, "m4", "m5"), a_card(collection, "m4")
    for card in (first, second):
        await store.create_card(card, a_change())
    await store.delete_card(first, expected_generation=1, change=a_change())
    await world.vocabularies().occurring(collection.id, "m4", turn=asyncio.get_running_loop().create_future())
    lease = await store.begin_import(collection.id, lease_s=30, change=a_change())
    await store.upsert(lease, a_card(collection, "m6"))
    await store.end_import(lease, a_change())
    await store.delete_collection(renamed, expected_generation=2, change=a_change())
    await store.sweep(collection.id, limit=100)


def _requests(value: object) -> Iterator[Mapping[str, Any]]:
    """Every part of a request that carries an expression of its own."""
    if isinstance(value, Mapping):
        if any(str(name).endswith("Expression") for name in value):
            yield value
        for member in value.values():
            yield from _requests(member)
    elif isinstance(value, list):
        for member in value:
            yield from _requests(member)


async def _gathered(world: StoreWorld) -> list[Mapping[str, Any]]:
    calls: list[Mapping[str, Any]] = []

    def note(_service: str, _operation: str, asked: Mapping[str, Any]) -> None:
        calls.append(asked)

    with world.clients.heard.by(note):
        await _everything(world)
    return [request for call in calls for request in _requests(call)]


def _expression_of(request: Mapping[str, Any]) -> str:
    return " ".join(str(value) for name, value in request.items() if name.endswith("Expression"))


def _named_clauses() -> set[str]:
    """The clauses in the sources: each is a constant with a name of its own."""
    found: set[str] = set()
    for source in Path(adapters.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(source.read_text())):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and re.match(r"^[A-Za-z_( ]*#\w", node.value)
            ):
                found.add(node.value)
    return {clause for clause in found if " " in clause or "(" in clause}


@pytest.mark.emulator
async def test_no_attribute_is_written_without_an_alias(store: StoreWorld) -> None:
    assert len(RESERVED) == 573
    for request in await _gathered(store):
        bare = set(_BARE_WORD.findall(_expression_of(request))) - _OWN_WORDS
        assert not bare, f"{bare} in {_expression_of(request)}; reserved: {bare & {w.lower() for w in RESERVED}}"


@pytest.mark.emulator
async def test_every_alias_and_every_value_that_is_sent_is_used(store: StoreWorld) -> None:
    """The service refuses a request that carries one too many."""
    for request in await _gathered(store):
        expression = _expression_of(request)
        assert set(re.findall(r"#\w+", expression)) == set(request.get("ExpressionAttributeNames", {}))
        assert set(re.findall(r":\w+", expression)) == set(request.get("ExpressionAttributeValues", {}))


@pytest.mark.emulator
async def test_these_tests_see_every_clause_in_the_sources(store: StoreWorld) -> None:
    sent = " ".join(_expression_of(request) for request in await _gathered(store))
    clauses = _named_clauses()
    assert len(clauses) >= 12
    assert {clause for clause in clauses if clause not in sent} == set()
