"""The rules of quotes and receipts, without anything around them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.alexandria import (
    LEASE_S,
    RECEIPT_LIFE_S,
    Execution,
    Order,
    ReceiptState,
    Trouble,
    canonical,
    catalogue_among,
    is_usable,
)
from shared.domain.outcomes import OutcomeCode
from shared.domain.registrations import ProviderKind, ProviderStatus
from shared.domain.strict_json import MAX_DEPTH, parse
from tests.support.alexandria_fakes import a_receipt
from tests.support.builders import NOW, an_internal_provider

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OPTIONS = st.dictionaries(st.text(), JSON, max_size=5)


def shuffled(value: object) -> object:
    """The same, with every object written backwards."""
    if isinstance(value, dict):
        return {name: shuffled(value[name]) for name in reversed(value)}
    return [shuffled(each) for each in value] if isinstance(value, list) else value


@given(OPTIONS)
def test_options_are_sent_as_they_were_given(options: dict[str, object]) -> None:
    assert parse(canonical(options)) == options  # type: ignore[arg-type]


@given(OPTIONS)
def test_the_order_of_names_does_not_make_another_request(options: dict[str, object]) -> None:
    assert canonical(shuffled(options)) == canonical(options)  # type: ignore[arg-type]


def test_a_fingerprint_tells_quote_and_options_apart() -> None:
    orders = [
        Order(quote_id=q, request_id=r, options=o) for q in ("q", "q1") for r in ("r", "s") for o in (b"{}", b"1{}")
    ]
    assert len({order.fingerprint() for order in orders}) == 4
    assert all(order.fingerprint() == replace(order, request_id="other").fingerprint() for order in orders)
    assert "{}" not in repr(orders)


@pytest.mark.parametrize(
    ("name", "usable"),
    [
        ("acmestats", True),
        ("series/observations v2 (beta)", True),
        ("a" * 200, True),
        ("a" * 201, False),
        ("", False),
        (" a", False),
        ("a ", False),
        ("a  b", False),
        ("a\tb", False),
        ("a\n", False),
        ("渡輪", False),
        ("a\u00a0b", False),
    ],
    ids=ascii,
)
def test_which_names_can_be_called(name: str, usable: bool) -> None:
    assert is_usable(name) is usable


@pytest.mark.parametrize("state", ReceiptState)
def test_only_a_started_receipt_becomes_unknown_and_only_with_its_lease(state: ReceiptState) -> None:
    receipt = a_receipt(state=state)
    assert receipt.seen_at(NOW + LEASE_S - 0.001) == receipt
    later = ReceiptState.UNKNOWN if state is ReceiptState.STARTED else state
    assert receipt.seen_at(NOW + LEASE_S) == replace(receipt, state=later)
    assert receipt.may_be_tried_again is (state is ReceiptState.REFUSED)


def test_a_receipt_ends_thirty_days_after_it_began_however_it_ended() -> None:
    receipt = a_receipt(started_at=NOW + 0.5)
    settled = receipt.settled(Execution(state=ReceiptState.DONE, credits=1), now=NOW + 20)
    assert receipt.expires_at == settled.expires_at == NOW + RECEIPT_LIFE_S + 1


def test_every_trouble_that_is_also_an_outcome_has_its_name() -> None:
    own = {"options_refused", "credits_refused", "already_there", "tool_failed"}
    assert {trouble.value for trouble in Trouble} - {code.value for code in OutcomeCode} == own


def test_the_registration_to_go_through() -> None:
    first, second, cheap, off, other = (
        an_internal_provider(kind=kind, priority=priority, status=status)
        for kind, priority, status in (
            (ProviderKind.FIRECRAWL, 50, ProviderStatus.ACTIVE),
            (ProviderKind.FIRECRAWL, 50, ProviderStatus.ACTIVE),
            (ProviderKind.FIRECRAWL, 10, ProviderStatus.ACTIVE),
            (ProviderKind.FIRECRAWL, 0, ProviderStatus.DISABLED),
            (ProviderKind.EXA, 0, ProviderStatus.ACTIVE),
        )
    )
    every = (first, second, cheap, off, other)
    assert catalogue_among(every, allowed=None, named=None) is cheap
    assert catalogue_among(every, allowed=(second.id, first.id), named=None) is first
    assert catalogue_among(every, allowed=None, named=second.id) is second
    assert catalogue_among(every, allowed=(first.id,), named=second.id) is None
    assert catalogue_among(every, allowed=(), named=None) is None
    for id_ in (off.id, other.id, "unknown"):
        assert catalogue_among(every, allowed=None, named=id_) is None


def test_the_deepest_options_that_can_arrive_can_be_sent() -> None:
    nested = b'{"a":' * (MAX_DEPTH - 1) + b"1" + b"}" * (MAX_DEPTH - 1)
    options = parse(nested)
    assert isinstance(options, dict)
    assert canonical(options) == nested
