"""The numbered keys of a pool: their order, which one is used, and which ones rest until when."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.key_pools import (
    MAX_KEY_CHARACTERS,
    MAX_KEYS,
    PoolKey,
    PoolState,
    Rest,
    choose_key,
    configured_keys,
    fingerprint_of_key,
    free_again_at,
    next_active,
    rested,
    resting_with,
)
from shared.domain.pools import KEY_NAME, KEYED_POOLS, POOL_OF, Pool
from shared.domain.registrations import LIVE_KINDS

NOW = 1_790_000_000.0
POOL = Pool.EXA


def a_key(name: str, *, account: str | None = None) -> PoolKey:
    return PoolKey(name=name, fingerprint=f"print of {name}", value=f"k-{name}", account=account)


A, B, C = KEYS = tuple(a_key(name) for name in "abc")


def names(entries: dict[str, object], *, pool: Pool = POOL) -> list[str]:
    return [key.name for key in configured_keys(pool, entries).keys]


def state(active: PoolKey | None = None, **until_s: float) -> PoolState:
    """`until_s` by key name, in seconds from now."""
    rests = {f"print of {name}": Rest(NOW + seconds, "quota") for name, seconds in until_s.items()}
    return PoolState(active=active.fingerprint if active else None, rests=rests)


# --- which keys there are ---
def test_every_live_kind_has_a_pool() -> None:
    assert set(POOL_OF) == LIVE_KINDS
    assert set(KEYED_POOLS) == {Pool.CONTEXT7, Pool.EXA, Pool.FIRECRAWL}


@pytest.mark.parametrize("pool", KEYED_POOLS)
def test_the_base_name_comes_first_then_the_suffixes_by_number(pool: Pool) -> None:
    base = KEY_NAME[pool]
    entries = {f"{base}_10": "ten", f"{base}_2": "two", base: "zero", f"{base}_1": "one"}
    assert names(entries, pool=pool) == [base, f"{base}_1", f"{base}_2", f"{base}_10"]


def test_gaps_and_a_missing_base_are_fine() -> None:
    assert names({"EXA_API_KEY_7": "seven", "EXA_API_KEY_3": "three"}) == ["EXA_API_KEY_3", "EXA_API_KEY_7"]


@pytest.mark.parametrize(
    "name",
    ["EXA_API_KEY_", "EXA_API_KEY_0", "EXA_API_KEY_01", "EXA_API_KEY_-1", "EXA_API_KEY_1.5", "EXA_API_KEY_x",
     "EXA_API_KEY_1_2", "EXA_API_KEY1", "exa_api_key", "EXA_API_KEY_１", "XEXA_API_KEY", "EXA_API_KEY_1 ",
     "EXA_API_KEY_1234567", "FIRECRAWL_API_KEY", ""],
)  # fmt: skip
def test_other_names_are_left_out(name: str) -> None:
    configured = configured_keys(POOL, {name: "k-demo", "EXA_API_KEY": "k-zero"})
    assert [key.name for key in configured.keys] == ["EXA_API_KEY"]
    assert configured.unusable == ()


def test_blanks_are_left_out_and_the_first_of_equal_keys_stays() -> None:
    entries = {"EXA_API_KEY": " ", "EXA_API_KEY_1": "same", "EXA_API_KEY_2": " same\n", "EXA_API_KEY_3": {"key": ""}}
    assert names(entries) == ["EXA_API_KEY_1"]


def test_a_key_is_a_text_or_an_object_with_an_account() -> None:
    entries = {
        "EXA_API_KEY": "plain",
        "EXA_API_KEY_1": {"key": " lent ", "account": "acme"},
        "EXA_API_KEY_2": {"key": "alone", "account": ""},
        "EXA_API_KEY_3": {"key": "odd", "account": 7},
    }
    keys = configured_keys(POOL, entries).keys
    assert [(key.value, key.account) for key in keys] == [
        ("plain", None),
        ("lent", "acme"),
        ("alone", None),
        ("odd", None),
    ]


@pytest.mark.parametrize(
    "entry",
    ["k-demo\nX", "k demo", "k-dëmo", "k\0", "x" * (MAX_KEY_CHARACTERS + 1), None, 7, True, ["k-demo"], {},
     {"account": "acme"}, {"key": None}, {"key": "k-demo\r\nX"}],
    ids=repr,
)  # fmt: skip
def test_what_is_no_key_is_named_and_not_shown(entry: object) -> None:
    configured = configured_keys(POOL, {"EXA_API_KEY": "k-zero", "EXA_API_KEY_2": entry})
    assert [key.name for key in configured.keys] == ["EXA_API_KEY"]
    assert configured.unusable == ("EXA_API_KEY_2",)
    assert "demo" not in repr(configured)


def test_the_longest_key_is_a_key() -> None:
    assert names({"EXA_API_KEY": "x" * MAX_KEY_CHARACTERS}) == ["EXA_API_KEY"]


def test_there_are_at_most_thirty_two_distinct_keys() -> None:
    entries: dict[str, object] = {f"EXA_API_KEY_{number}": f"k-{number // 2}" for number in range(1, 100)}
    keys = configured_keys(POOL, entries).keys
    assert len(keys) == MAX_KEYS == len({key.value for key in keys})


def test_a_fingerprint_is_of_pool_and_key() -> None:
    assert fingerprint_of_key(Pool.EXA, "k") == hashlib.sha256(b"exa\0k").hexdigest()
    assert len({fingerprint_of_key(pool, "k") for pool in Pool}) == len(Pool)
    [key] = configured_keys(POOL, {"EXA_API_KEY": "k"}).keys
    assert key.fingerprint == fingerprint_of_key(POOL, "k")


# --- which key is used ---
def test_at_first_it_is_the_first() -> None:
    assert choose_key(KEYS, PoolState(), now=NOW) == A


def test_the_active_key_stays_although_an_earlier_one_may_be_used() -> None:
    assert choose_key(KEYS, state(B, a=-1), now=NOW) == B


def test_a_resting_or_tried_active_key_gives_way_to_the_first_that_may() -> None:
    assert choose_key(KEYS, state(A, a=10), now=NOW) == B
    assert choose_key(KEYS, state(A), now=NOW, tried=[A.fingerprint]) == B
    assert choose_key(KEYS, state(B, a=10), now=NOW, tried=[B.fingerprint]) == C


def test_an_active_key_that_is_no_longer_there_does_not_count() -> None:
    assert choose_key(KEYS, state(a_key("gone")), now=NOW) == A


def test_with_all_resting_or_tried_none_is_left() -> None:
    assert choose_key(KEYS, state(A, a=10, b=20, c=30), now=NOW) is None
    assert choose_key(KEYS, state(A, b=20, c=30), now=NOW, tried=[A.fingerprint]) is None
    assert choose_key((), PoolState(), now=NOW) is None


def test_a_rest_ends_at_its_very_moment() -> None:
    assert not state(a=0).is_resting(A.fingerprint, now=NOW)
    assert state(a=0.001).is_resting(A.fingerprint, now=NOW)
    assert not state().is_resting(A.fingerprint, now=NOW)


# --- which one is used next ---
def active_after(keys: tuple[PoolKey, ...], before: PoolState, *refused: PoolKey, until_s: float = 60) -> str | None:
    resting = [key.fingerprint for key in refused]
    active = next_active(keys, before, resting=resting, until=NOW + until_s, now=NOW)
    return active and active.removeprefix("print of ")


def test_the_next_key_is_the_first_that_may_be_used() -> None:
    assert active_after(KEYS, state(A), A) == "b"
    assert active_after(KEYS, state(B, a=-5), B) == "a"
    assert active_after(KEYS, state(A, b=10), A) == "c"


def test_the_active_key_stays_when_another_is_laid_to_rest() -> None:
    assert active_after(KEYS, state(C), A) == "c"


def test_with_all_resting_it_is_the_one_that_is_free_first() -> None:
    assert active_after(KEYS, state(C, a=300, b=40), C, until_s=90) == "b"
    assert active_after(KEYS, state(C, a=300, b=40), C, until_s=30) == "c"
    assert active_after(KEYS, state(C, c=500, a=300, b=400), C, until_s=30) == "a"


def test_without_keys_there_is_no_next() -> None:
    assert active_after((), PoolState()) is None


# --- whom a refusal concerns ---
def test_a_refusal_concerns_the_key_or_its_account() -> None:
    lent, also_lent, other = (
        a_key("lent", account="acme"),
        a_key("also", account="acme"),
        a_key("other", account="ajax"),
    )
    keys = (A, also_lent, lent, other)
    assert resting_with(lent, keys, scope="key") == (lent,)
    assert resting_with(lent, keys, scope="account") == (lent, also_lent)
    assert resting_with(A, keys, scope="account") == (A,)


def test_a_rest_that_ends_later_stays_as_it_is() -> None:
    after = rested(state(A, a=100, b=10), [A.fingerprint, B.fingerprint], Rest(NOW + 50, "rate"), active="c")
    assert after == PoolState(
        active="c", rests={A.fingerprint: Rest(NOW + 100, "quota"), B.fingerprint: Rest(NOW + 50, "rate")}
    )


# --- when the pool is free again ---
def test_the_pool_is_free_again_with_its_first_key() -> None:
    assert free_again_at(KEYS, state(a=300, b=40, c=90), now=NOW) == NOW + 40
    assert free_again_at(KEYS, state(a=300, b=-40, c=90), now=NOW) == NOW
    assert free_again_at(KEYS, state(a=300), now=NOW) == NOW
    assert free_again_at((), state(), now=NOW) is None


_SECONDS = st.floats(-100, 100)


@given(
    until_s=st.dictionaries(st.sampled_from("abc"), _SECONDS),
    active=st.sampled_from([None, *KEYS]),
    refused=st.sampled_from(KEYS),
    rests_s=st.floats(0.01, 200),
)
def test_what_is_chosen_never_rests_and_an_end_is_found_for_every_exhaustion(
    until_s: dict[str, float], active: PoolKey | None, refused: PoolKey, rests_s: float
) -> None:
    before = state(active, **until_s)
    next_one = next_active(KEYS, before, resting=[refused.fingerprint], until=NOW + rests_s, now=NOW)
    after = rested(before, [refused.fingerprint], Rest(NOW + rests_s, "rate"), active=next_one)
    chosen = choose_key(KEYS, after, now=NOW)
    free_at = free_again_at(KEYS, after, now=NOW)
    assert free_at is not None
    if chosen is None:
        assert free_at > NOW
        assert choose_key(KEYS, after, now=free_at) is not None
    else:
        assert (chosen.fingerprint, free_at) == (next_one, NOW)
        assert not after.is_resting(chosen.fingerprint, now=NOW)
