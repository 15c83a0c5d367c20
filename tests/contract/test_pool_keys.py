"""What `ports.pool_keys.PoolKeys` promises."""

from __future__ import annotations

import json

import pytest

from shared.adapters.pool_keys import SecretsManagerPoolKeys
from shared.domain.pools import KEYED_POOLS, Pool
from shared.errors import Unavailable
from tests.contract.stubs import StubClient, refusal
from tests.contract.worlds import World
from tests.support.fakes import FakeClock
from tests.support.live_fakes import FakePoolKeys

SECRET = {"SecretString": '{"EXA_API_KEY": "k-demo-one"}'}


def _adapter(client: StubClient, clock: FakeClock | None = None) -> SecretsManagerPoolKeys:
    return SecretsManagerPoolKeys(client, secret_ids=dict.fromkeys(Pool, "a-secret"), clock=clock or FakeClock())


async def _names(world: World, pool: Pool) -> list[str]:
    return [key.name for key in (await world.pool_keys().configured(pool)).keys]


async def test_the_keys_of_a_pool_are_those_of_its_secret(quick_world: World) -> None:
    entries = {"EXA_API_KEY_10": "k-demo-ten", "EXA_API_KEY_2": {"key": "k-demo-two", "account": "acme"}}
    quick_world.keep_pool_secret(Pool.EXA, json.dumps(entries))
    quick_world.keep_pool_secret(Pool.CONTEXT7, json.dumps({"CONTEXT7_API_KEY": "k-demo-seven"}))
    keys = (await quick_world.pool_keys().configured(Pool.EXA)).keys
    assert [(key.name, key.value, key.account) for key in keys] == [
        ("EXA_API_KEY_2", "k-demo-two", "acme"),
        ("EXA_API_KEY_10", "k-demo-ten", None),
    ]
    assert await _names(quick_world, Pool.CONTEXT7) == ["CONTEXT7_API_KEY"]


async def test_what_is_no_key_is_named_and_never_shown(quick_world: World) -> None:
    entries = {"EXA_API_KEY": "k-demo\nX", "EXA_API_KEY_2": "k-demo-two"}
    quick_world.keep_pool_secret(Pool.EXA, json.dumps(entries))
    configured = await quick_world.pool_keys().configured(Pool.EXA)
    assert configured.unusable == ("EXA_API_KEY",)
    assert "k-demo" not in repr(configured)


@pytest.mark.parametrize("pool", Pool)
async def test_a_pool_without_a_secret_has_no_keys(quick_world: World, pool: Pool) -> None:
    assert (await quick_world.pool_keys().configured(pool)).keys == ()


@pytest.mark.parametrize("text", ["k-demo-one", "[]", "null", '{"EXA_API_KEY": "k', '{"EXA_API_KEY": "a", "EXA_API_KEY": "b"}', "{}"])  # fmt: skip  # noqa: E501
async def test_a_secret_that_is_no_object_of_names_has_no_keys(quick_world: World, text: str) -> None:
    quick_world.keep_pool_secret(Pool.EXA, text)
    assert await _names(quick_world, Pool.EXA) == []


async def test_a_replaced_key_is_used_after_five_minutes_at_the_latest(quick_world: World) -> None:
    keys = quick_world.pool_keys()
    quick_world.keep_pool_secret(Pool.EXA, json.dumps({"EXA_API_KEY": "k-demo-old"}))
    old = (await keys.configured(Pool.EXA)).keys
    quick_world.keep_pool_secret(Pool.EXA, json.dumps({"EXA_API_KEY": "k-demo-new"}))
    quick_world.clock.advance(300)
    new = (await keys.configured(Pool.EXA)).keys
    assert [key.value for key in (*old, *new)] == ["k-demo-old", "k-demo-new"]
    assert old[0].fingerprint != new[0].fingerprint


async def test_keys_are_read_once_in_five_minutes() -> None:
    client, clock = StubClient(SECRET), FakeClock()
    keys = _adapter(client, clock)
    for _ in range(3):
        assert len((await keys.configured(Pool.EXA)).keys) == 1
        clock.advance(100)
    assert len(client.calls) == 1
    await keys.configured(Pool.EXA)
    assert len(client.calls) == 2


@pytest.mark.parametrize("code", ["AccessDeniedException", "ThrottlingException", "InternalServiceError"])
async def test_a_store_that_cannot_be_used_is_unavailable_and_nothing_is_remembered(code: str) -> None:
    keys = _adapter(StubClient(refusal(code), SECRET))
    with pytest.raises(Unavailable) as problem:
        await keys.configured(Pool.EXA)
    assert problem.value.code == "secrets_unavailable"
    assert len((await keys.configured(Pool.EXA)).keys) == 1


async def test_a_secret_that_does_not_exist_or_has_no_text_is_none() -> None:
    for answer in (refusal("ResourceNotFoundException"), {"SecretBinary": b"k-demo"}):
        assert (await _adapter(StubClient(answer)).configured(Pool.EXA)).keys == ()


async def test_services_without_keys_are_never_looked_up() -> None:
    client = StubClient(SECRET)
    for pool in Pool:
        await _adapter(client).configured(pool)
    assert len(client.calls) == len(KEYED_POOLS)


async def test_the_fake_fails_on_demand() -> None:
    fake = FakePoolKeys({Pool.EXA: {"EXA_API_KEY": "k-demo-one"}})
    fake.failure = Unavailable(code="secrets_unavailable")
    with pytest.raises(Unavailable):
        await fake.configured(Pool.EXA)
