"""What the services say when they fail, and what callers hear of it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from shared.adapters.audit_log import DynamoAuditLog
from shared.adapters.card_reader import DynamoCardReader
from shared.adapters.card_store import DynamoCardStore
from shared.adapters.catalog import DynamoCatalog
from shared.adapters.credential_items import item_of
from shared.adapters.credential_store import DynamoCredentialStore
from shared.adapters.credentials import DynamoCredentials
from shared.adapters.customer_card_reader import DynamoCustomerCardReader
from shared.adapters.customer_catalog import DynamoCustomerCatalog
from shared.adapters.idempotency import DynamoIdempotency
from shared.adapters.origins import DynamoOrigins
from shared.adapters.rate_limits import DynamoRateLimits
from shared.adapters.registry import DynamoRegistry
from shared.adapters.root_secret import SecretsManagerRootSecret
from shared.adapters.row_reads import RowReads
from shared.adapters.secret_box import KmsSealer, KmsUnsealer
from shared.adapters.service_faults import (
    AnswerTimedOut,
    ConnectionLost,
    DamagedAnswer,
    NotAnAnswer,
    NotConfigured,
    NotConnected,
)
from shared.domain.exposure import CredentialClass, ExposureProfile
from shared.domain.root import RootSwitch
from shared.errors import Conflict, NotFound, PreconditionFailed, Problem, Unavailable
from tests.contract.far_ahead import a_change, an_idempotency_record
from tests.contract.stubs import StubClient, refusal
from tests.support.builders import a_credential, a_provider, a_sealed_secret
from tests.support.card_builders import a_card, a_collection
from tests.support.fakes import FakeClock

URL = "https://dynamodb.eu-west-1.amazonaws.com/"
FAULTS = [
    refusal("ProvisionedThroughputExceededException"),
    refusal("ThrottlingException"),
    refusal("RequestLimitExceeded"),
    refusal("InternalServerError"),
    refusal("ResourceNotFoundException"),
    refusal("AccessDeniedException"),
    refusal("ValidationException"),
    refusal("SomethingNobodyKnows"),
    NotConnected(URL),
    AnswerTimedOut(URL),
    ConnectionLost(URL),
    DamagedAnswer(URL),
    NotAnAnswer(URL),
    NotConfigured(URL),
]
_FOREIGN_WORDS = re.compile(r"aws|amazon|dynamo|kms|secrets ?manager|lambda|boto|arn:|exception|table-|throttl", re.I)
STORE = {
    "public_table": "table-p",
    "internal_table": "table-i",
    "idempotency_table": "table-l",
    "clock": FakeClock(),
}
SAFE = ExposureProfile.CUSTOMER_SAFE
CARDS = a_collection()
CARD = a_card(CARDS, "fee", generation=2)


def a_registry(client: StubClient) -> DynamoRegistry:
    return DynamoRegistry(client, **STORE)


def a_card_store(client: StubClient) -> DynamoCardStore:
    return DynamoCardStore(
        client, table="table-c", audit_table="table-i", idempotency_table="table-l", clock=FakeClock()
    )


def a_store(client: StubClient) -> DynamoCredentialStore:
    return DynamoCredentialStore(client, **STORE)


CALLS: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "Catalog.providers": lambda c: DynamoCatalog(
        c, reads=RowReads(c), public_table="table-p", internal_table="table-i"
    ).providers(),
    "CustomerCatalog.sources": lambda c: DynamoCustomerCatalog(c, reads=RowReads(c), table="table-p").sources(),
    "Credentials.find": lambda c: DynamoCredentials(RowReads(c), table="table-i").find("a" * 16),
    "Origins.is_listed": lambda c: DynamoOrigins(c, table="table-p", clock=FakeClock()).is_listed("https://a.test"),
    "RateLimits.count": lambda c: DynamoRateLimits(c, table="table-p", clock=FakeClock()).count("one"),
    "Idempotency.find": lambda c: DynamoIdempotency(c, table="table-l", clock=FakeClock()).find("aa" * 32),
    "AuditLog.page": lambda c: DynamoAuditLog(c, table="table-i").page(limit=5, after=None),
    "Registry.get": lambda c: a_registry(c).get("cs_" + "a" * 16),
    "Registry.page": lambda c: a_registry(c).page(limit=5, after=None),
    "Registry.create": lambda c: a_registry(c).create(a_provider(), a_change()),
    "Registry.replace": lambda c: a_registry(c).replace(
        a_provider(generation=2), expected_generation=1, change=a_change()
    ),
    "Registry.delete": lambda c: a_registry(c).delete(a_provider(), expected_generation=1, change=a_change()),
    "Registry.delete_unreadable": lambda c: a_registry(c).delete_unreadable(a_provider().id, change=a_change()),
    "CredentialStore.get": lambda c: a_store(c).get("a" * 16),
    "CredentialStore.page": lambda c: a_store(c).page(limit=5, after=None),
    "CredentialStore.create": lambda c: a_store(c).create(a_credential(), a_change()),
    "CredentialStore.replace": lambda c: a_store(c).replace(
        a_credential(generation=2), expected_generation=1, change=a_change()
    ),
    "CredentialStore.delete": lambda c: a_store(c).delete(a_credential(), expected_generation=1, change=a_change()),
    "CardStore.collection": lambda c: a_card_store(c).collection(CARDS.id),
    "CardStore.collections": lambda c: a_card_store(c).collections(limit=5, after=None),
    "CardStore.create_collection": lambda c: a_card_store(c).create_collection(CARDS, a_change()),
    "CardStore.card": lambda c: a_card_store(c).card(CARDS.id, CARD.id),
    "CardStore.cards": lambda c: a_card_store(c).cards(CARDS.id, limit=5, after=None),
    "CardStore.cards_with": lambda c: a_card_store(c).cards_with(CARDS.id, [CARD.id]),
    "CardStore.create_card": lambda c: a_card_store(c).create_card(CARD, a_change()),
    "CardStore.replace_card": lambda c: a_card_store(c).replace_card(CARD, expected_generation=1, change=a_change()),
    "CardStore.delete_card": lambda c: a_card_store(c).delete_card(CARD, expected_generation=1, change=a_change()),
    "CardStore.begin_import": lambda c: a_card_store(c).begin_import(CARDS.id, lease_s=30, change=a_change()),
    "CardStore.deleting": lambda c: a_card_store(c).deleting(limit=5),
    "CardStore.sweep": lambda c: a_card_store(c).sweep(CARDS.id, limit=5),
    "CardReader.ids_by_key": lambda c: DynamoCardReader(c, table="table-c").ids_by_key(CARDS.id, ["fee"]),
    "CardReader.cards": lambda c: DynamoCardReader(c, table="table-c").cards(CARDS.id, [CARD.id]),
    "CustomerCardReader.ids_by_key": lambda c: DynamoCustomerCardReader(c, table="table-c").ids_by_key(
        CARDS.id, ["fee"]
    ),
    "CustomerCardReader.cards": lambda c: DynamoCustomerCardReader(c, table="table-c").cards(CARDS.id, [CARD.id]),
    "CredentialStore.root_switch": lambda c: a_store(c).root_switch(),
    "CredentialStore.switch_root": lambda c: a_store(c).switch_root(
        RootSwitch(generation=2), expected_generation=1, change=a_change()
    ),
}
SECRET_CALLS: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "Sealer.seal": lambda c: KmsSealer(c, key_id="k", exposure=SAFE).seal("s", owner_id="o", purpose="signing"),
    "Unsealer.unseal": lambda c: KmsUnsealer(c, key_id="k", exposure=SAFE, clock=FakeClock()).unseal(
        a_sealed_secret(), owner_id="o", purpose="signing"
    ),
    "RootSecret.read": lambda c: SecretsManagerRootSecret(c, secret_id="s", clock=FakeClock()).read(),
}


def _says_nothing_foreign(problem: Problem) -> None:
    assert not _FOREIGN_WORDS.search(f"{problem} {problem.detail} {problem.facts} {problem.title}")
    assert problem.__cause__ is None
    assert problem.__suppress_context__ or problem.__context__ is None


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault)[:60])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_whatever_fails_in_the_store_is_unavailable(
    call: Callable[[Any], Awaitable[Any]], fault: Exception
) -> None:
    with pytest.raises(Unavailable) as answer:
        await call(StubClient(fault))
    assert (answer.value.code, answer.value.status) == ("store_unavailable", 503)
    assert answer.value.retry_after_s >= 1
    _says_nothing_foreign(answer.value)


@pytest.mark.parametrize("fault", [*FAULTS, refusal("InvalidCiphertextException")], ids=lambda fault: str(fault)[:60])
@pytest.mark.parametrize("call", SECRET_CALLS.values(), ids=SECRET_CALLS)
async def test_whatever_fails_around_secrets_is_unavailable(
    call: Callable[[Any], Awaitable[Any]], fault: Exception
) -> None:
    with pytest.raises(Unavailable) as answer:
        await call(StubClient(fault))
    assert (answer.value.code, answer.value.status) == ("secrets_unavailable", 503)
    assert answer.value.retry_after_s >= 1
    _says_nothing_foreign(answer.value)


def _cancelled(*reasons: str, found: dict[str, Any] | None = None) -> Exception:
    return refusal("TransactionCanceledException", reasons=list(reasons), found=found)


ROOT_OFF = RootSwitch(is_on=False, generation=2)
FAILED, FINE = "ConditionalCheckFailed", "None"
SOMETHING = {"pk": {"S": "PROVIDER"}}


@pytest.mark.parametrize(
    ("reasons", "code"),
    [
        ((FAILED, FINE, FINE, FINE, FINE), "idempotency_key_used"),
        ((FINE, FAILED, FINE, FINE, FINE), "id_taken"),
        ((FINE, FINE, FAILED, FINE, FINE), "name_taken"),
        ((FINE, FINE, FINE, FAILED, FINE), "provider_limit_reached"),
        ((FINE, FINE, FINE, FINE, FAILED), "busy"),
        ((FAILED, FAILED, FAILED, FAILED, FAILED), "idempotency_key_used"),
        ((FINE, FINE, FAILED, FAILED, FINE), "name_taken"),
        ((FINE, "TransactionConflict", FAILED, FINE, FINE), "name_taken"),
    ],
)
async def test_a_refused_condition_of_a_creation_is_told_by_its_own_code(reasons: tuple[str, ...], code: str) -> None:
    client = StubClient(_cancelled(*reasons))
    with pytest.raises(Conflict) as answer:
        await a_registry(client).create(a_provider(), a_change(idempotency=an_idempotency_record()))
    assert answer.value.code == code
    assert len(client.calls) == 1, "what is decided is not tried again"
    _says_nothing_foreign(answer.value)


@pytest.mark.parametrize(("found", "expected"), [(None, NotFound), (SOMETHING, PreconditionFailed)])
async def test_a_missing_resource_and_a_changed_one_are_told_apart(
    found: dict[str, Any] | None, expected: type[Problem]
) -> None:
    stored = {"Item": {"name": {"S": "As it was read before the write"}}}
    client = StubClient(stored, _cancelled(FAILED, FINE, FINE, FINE, FINE, found=found))
    with pytest.raises(expected) as answer:
        await a_registry(client).replace(a_provider(generation=2), expected_generation=1, change=a_change())
    _says_nothing_foreign(answer.value)


@pytest.mark.parametrize(
    "conflict",
    [
        _cancelled(FINE, "TransactionConflict", FINE, FINE),
        refusal("TransactionConflictException"),
        refusal("TransactionInProgressException"),
    ],
    ids=["a conflicting part", "a conflict", "in progress"],
)
async def test_a_write_that_meets_another_in_flight_is_tried_again(conflict: Exception) -> None:
    client = StubClient(conflict, conflict, {})
    await a_registry(client).create(a_provider(), a_change())
    assert client.calls == ["transact_write_items"] * 3


async def test_a_write_whose_own_copy_is_in_flight_asks_for_its_outcome_and_never_for_another_write() -> None:
    """Under another token it would meet the rows that its own copy has written, and be refused for them."""
    tokens: list[str] = []

    def told(answer: object) -> Callable[..., object]:
        def call(*, ClientRequestToken: str, TransactItems: object) -> object:
            tokens.append(ClientRequestToken)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call

    conflict, in_progress = refusal("TransactionConflictException"), refusal("TransactionInProgressException")
    client = StubClient(*map(told, (in_progress, in_progress, conflict, in_progress, {})))
    await a_registry(client).create(a_provider(), a_change())
    one, other = dict.fromkeys(tokens)
    assert tokens == [one, one, one, other, other]


async def test_of_a_write_that_stays_in_flight_nobody_says_that_others_were_in_the_way() -> None:
    client = StubClient(refusal("TransactionInProgressException"))
    with pytest.raises(Unavailable):
        await a_registry(client).create(a_provider(), a_change())
    assert len(client.calls) > 1


async def test_a_write_that_keeps_meeting_others_gives_up_as_busy() -> None:
    client = StubClient(_cancelled(FINE, "TransactionConflict", FINE, FINE))
    with pytest.raises(Conflict) as answer:
        await a_registry(client).create(a_provider(), a_change())
    assert answer.value.code == "busy"
    assert answer.value.retry_after_s == 1
    assert 3 <= len(client.calls) <= 10


@pytest.mark.parametrize("reason", ["ThrottlingError", "ProvisionedThroughputExceeded", "ValidationError", "Unheard"])
async def test_a_transaction_cancelled_for_another_reason_is_unavailable(reason: str) -> None:
    client = StubClient(_cancelled(FINE, reason, FINE, FINE))
    with pytest.raises(Unavailable):
        await a_registry(client).create(a_provider(), a_change())


@pytest.mark.parametrize("reasons", [(), (FAILED,)])
async def test_a_cancellation_that_does_not_say_why_is_unavailable(reasons: tuple[str, ...]) -> None:
    with pytest.raises(Unavailable):
        await a_registry(StubClient(_cancelled(*reasons))).create(a_provider(), a_change())


async def test_an_admin_that_left_meanwhile_is_replaced_by_another_plan() -> None:
    """Switching root off holds on to one admin credential; when that one goes, it looks for the next."""
    admin = a_credential(credential_class=CredentialClass.ADMIN)
    listed = {"Items": [item_of(admin)]}
    client = StubClient(listed, _cancelled(FINE, FAILED, FINE), listed, {})
    await a_store(client).switch_root(ROOT_OFF, expected_generation=1, change=a_change())
    assert client.calls == ["query", "transact_write_items"] * 2


async def test_admins_that_keep_leaving_make_it_busy() -> None:
    admin = {"Items": [item_of(a_credential(credential_class=CredentialClass.ADMIN))]}
    client = StubClient(*[admin, _cancelled(FINE, FAILED, FINE)] * 10)
    with pytest.raises(Conflict) as answer:
        await a_store(client).switch_root(ROOT_OFF, expected_generation=1, change=a_change())
    assert answer.value.code == "busy"
