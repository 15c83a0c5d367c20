"""Plaintext in memory: five minutes at most, one call for many, no failure remembered."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from shared.adapters.root_secret import SecretsManagerRootSecret
from shared.adapters.secret_box import KmsUnsealer
from shared.adapters.short_memory import ShortMemory
from shared.domain.exposure import ExposureProfile
from shared.errors import Unavailable
from tests.contract.stubs import StubClient, refusal
from tests.support.builders import a_sealed_secret
from tests.support.fakes import FakeClock

SEALED = a_sealed_secret()
OPENED = {"Plaintext": b"kgs_opened"}


def an_unsealer(client: Any, clock: FakeClock | None = None) -> KmsUnsealer:
    return KmsUnsealer(client, key_id="k", exposure=ExposureProfile.CUSTOMER_SAFE, clock=clock or FakeClock())


async def _unseal(unsealer: KmsUnsealer, owner_id: str = "cs_1") -> str:
    return await unsealer.unseal(SEALED, owner_id=owner_id, purpose="signing")


async def test_a_secret_is_kept_for_five_minutes_and_not_a_second_longer() -> None:
    client, clock = StubClient(OPENED), FakeClock()
    unsealer = an_unsealer(client, clock)
    await _unseal(unsealer)
    clock.advance(299)
    assert await _unseal(unsealer) == "kgs_opened"
    assert len(client.calls) == 1
    clock.advance(1)
    assert await _unseal(unsealer) == "kgs_opened"
    assert len(client.calls) == 2


@pytest.mark.parametrize(("wall", "monotonic"), [(301, 0), (0, 301), (-5, 5)])
async def test_either_clock_can_end_it(wall: float, monotonic: float) -> None:
    """One of them may stand still while the process is frozen, and the wall clock may step."""
    client, clock = StubClient(OPENED), FakeClock()
    unsealer = an_unsealer(client, clock)
    await _unseal(unsealer)
    clock.step(wall=wall, monotonic=monotonic)
    await _unseal(unsealer)
    assert len(client.calls) == 2


async def test_each_owner_and_purpose_is_opened_for_itself() -> None:
    client = StubClient(OPENED)
    unsealer = an_unsealer(client)
    await _unseal(unsealer, "cs_1")
    await _unseal(unsealer, "cs_2")
    await unsealer.unseal(SEALED, owner_id="cs_1", purpose="signing_previous")
    await unsealer.unseal(a_sealed_secret(), owner_id="cs_1", purpose="signing")
    assert len(client.calls) == 4


class SlowKeys:
    """Answers when it is let go."""

    def __init__(self) -> None:
        self.calls = 0
        self.go = threading.Event()

    def decrypt(self, **_parameters: Any) -> dict[str, bytes]:
        self.calls += 1
        assert self.go.wait(30)
        return OPENED


async def test_all_who_want_the_same_secret_at_once_share_one_call() -> None:
    client = SlowKeys()
    unsealer = an_unsealer(client)
    waiting = [asyncio.create_task(_unseal(unsealer)) for _ in range(20)]
    await asyncio.sleep(0)
    client.go.set()
    assert set(await asyncio.gather(*waiting)) == {"kgs_opened"}
    assert client.calls == 1


async def test_one_that_gives_up_takes_nothing_from_the_others() -> None:
    client = SlowKeys()
    unsealer = an_unsealer(client)
    hasty, patient = asyncio.create_task(_unseal(unsealer)), asyncio.create_task(_unseal(unsealer))
    await asyncio.sleep(0)
    hasty.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hasty
    client.go.set()
    assert await patient == "kgs_opened"
    assert client.calls == 1
    assert len(asyncio.all_tasks()) == 1, "nothing is left behind but this test"


async def test_a_failure_is_not_remembered() -> None:
    client = StubClient(refusal("ThrottlingException"), OPENED)
    unsealer = an_unsealer(client)
    with pytest.raises(Unavailable):
        await _unseal(unsealer)
    assert await _unseal(unsealer) == "kgs_opened"


async def test_what_is_not_text_does_not_open() -> None:
    with pytest.raises(Unavailable):
        await _unseal(an_unsealer(StubClient({"Plaintext": b"\xff\xfe"})))


def test_memory_is_bounded_and_forgets_the_old_by_itself() -> None:
    clock = FakeClock()
    memory: ShortMemory[int] = ShortMemory(clock)
    for number in range(3_000):
        memory.put(number, "secret")
    assert len(memory._kept) <= 1_024
    assert memory.get(2_999) == "secret"
    clock.advance(300)
    assert memory.get(2_999) is None
    assert not memory._kept, "nothing old stays in memory once anybody looks"


async def test_the_root_secret_is_read_again_after_five_minutes() -> None:
    client, clock = StubClient({"SecretString": "0a" * 32}, {"SecretString": "0b" * 32}), FakeClock()
    root = SecretsManagerRootSecret(client, secret_id="s", clock=clock)
    assert {await root.read() for _ in range(3)} == {"0a" * 32}
    clock.advance(300)
    assert await root.read() == "0b" * 32


async def test_a_line_break_around_the_root_secret_is_no_part_of_it() -> None:
    root = SecretsManagerRootSecret(StubClient({"SecretString": "0a" * 32 + "\n"}), secret_id="s", clock=FakeClock())
    assert await root.read() == "0a" * 32


@pytest.mark.parametrize("text", ["", "0a", "0A" * 32, "0a" * 33, '{"secret": "0a"}', "kg_adm_root_" + "0a" * 32])
async def test_a_malformed_root_secret_admits_nobody(text: str) -> None:
    root = SecretsManagerRootSecret(StubClient({"SecretString": text}), secret_id="s", clock=FakeClock())
    with pytest.raises(Unavailable) as refused:
        await root.read()
    assert refused.value.code == "secrets_unavailable"
    assert not text or text not in str(refused.value) + refused.value.detail


async def test_a_root_secret_without_text_admits_nobody() -> None:
    with pytest.raises(Unavailable):
        await SecretsManagerRootSecret(StubClient({}), secret_id="s", clock=FakeClock()).read()
