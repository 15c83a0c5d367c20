from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from shared.domain.credentials import Credential, Principal
from shared.domain.exposure import CredentialClass, Grant
from shared.errors import Forbidden, RateLimited, Unauthenticated, Unavailable
from shared.services.admit import Admit
from shared.services.admit_assistant import AdmitAssistant
from tests.support.builders import a_credential, a_token
from tests.support.fakes import FakeClock, FakeCredentials, FakeRateLimits

AGENT, ASSISTANT = CredentialClass.AGENT, CredentialClass.ASSISTANT


class Door:
    def __init__(self, *credentials: Credential) -> None:
        self.clock = FakeClock()
        self.credentials = FakeCredentials(list(credentials))
        self.rate_limits = FakeRateLimits(clock=self.clock)
        self.admit = Admit(credentials=self.credentials, rate_limits=self.rate_limits, clock=self.clock)

    def knock(self, token: str | None, *, classes: Any = (AGENT,), **more: Any) -> Principal:
        return asyncio.run(self.admit(token, classes=classes, **more))

    @property
    def counted(self) -> int:
        return sum(self.rate_limits.counts.values())


def test_the_principal_carries_what_the_credential_says_and_nothing_else() -> None:
    credential = a_credential(allowed_providers=("cs_aaaaaaaaaaaaaaaa",), grants=frozenset(Grant))
    principal = Door(credential).knock(a_token(credential), agent_id="kim")
    assert principal == Principal(
        credential_id=credential.id,
        credential_class=AGENT,
        grants=frozenset(Grant),
        allowed_providers=("cs_aaaaaaaaaaaaaaaa",),
        agent_id="kim",
    )


@pytest.mark.parametrize("token", [None, "", "kg_agt_short_00", "x" * 5000, "kg_ast_aaaaaaaaaaaaaaaa_" + "5e" * 32])
def test_a_malformed_token_or_another_class_costs_no_read(token: str | None) -> None:
    door = Door()
    with pytest.raises(Unauthenticated):
        door.knock(token)
    assert door.credentials.reads == 0


def test_unknown_ids_and_wrong_secrets_cause_no_write() -> None:
    credential = a_credential()
    door = Door(credential)
    door.knock(a_token(credential))
    for token in (a_token(a_credential()), a_token(credential, secret="00" * 32)):
        with pytest.raises(Unauthenticated):
            door.knock(token)
    assert door.counted == 1


def test_a_wrong_secret_does_not_forget_nor_admit_the_right_one() -> None:
    credential = a_credential()
    door = Door(credential)
    door.knock(a_token(credential))
    with pytest.raises(Unauthenticated):
        door.knock(a_token(credential, secret="00" * 32))
    assert door.knock(a_token(credential)).credential_id == credential.id


def test_a_known_token_is_read_and_counted_at_once() -> None:
    credential = a_credential()
    door = Door(credential)
    door.knock(a_token(credential))
    started: list[str] = []
    everybody = asyncio.Event()

    def waiting(name: str, work: Any) -> Any:
        async def run(*args: Any) -> Any:
            started.append(name)
            if len(started) == 2:
                everybody.set()
            await asyncio.wait_for(everybody.wait(), 5)
            return await work(*args)

        return run

    door.credentials.find = waiting("read", door.credentials.find)  # type: ignore[method-assign]
    door.rate_limits.count = waiting("count", door.rate_limits.count)  # type: ignore[method-assign]
    door.knock(a_token(credential))
    assert sorted(started) == ["count", "read"]


def test_what_was_remembered_admits_nobody() -> None:
    credential = a_credential()
    door = Door(credential)
    door.knock(a_token(credential))
    door.credentials.all = []
    with pytest.raises(Unauthenticated):
        door.knock(a_token(credential))
    door.credentials.all = [credential]
    door.credentials.failure = Unavailable()
    with pytest.raises(Unavailable):
        door.knock(a_token(credential))


def test_a_rotated_secret_ends_the_old_one() -> None:
    credential = a_credential()
    door = Door(credential)
    door.knock(a_token(credential))
    other = a_credential(secret="11" * 32)
    door.credentials.all = [replace(credential, digest=other.digest)]
    with pytest.raises(Unauthenticated):
        door.knock(a_token(credential))
    assert door.knock(a_token(credential, secret="11" * 32)).credential_id == credential.id


def test_over_its_rate_nobody_is_admitted_until_the_next_minute() -> None:
    credential = a_credential(rate_per_minute=1)
    door = Door(credential)
    door.knock(a_token(credential))
    with pytest.raises(RateLimited) as caught:
        door.knock(a_token(credential))
    assert 1 <= caught.value.retry_after_s <= 60
    door.clock.advance(60)
    door.knock(a_token(credential))


@pytest.mark.parametrize(
    ("grants", "enters"), [({Grant.READ_PUBLIC}, True), ({Grant.READ_INTERNAL}, False), ((), False)]
)
def test_an_assistant_needs_the_grant_to_read_public_knowledge(grants: Any, enters: bool) -> None:
    credential = a_credential(credential_class=ASSISTANT, grants=frozenset(grants))
    admit = AdmitAssistant(admit=Door(credential).admit)
    if enters:
        assert asyncio.run(admit(a_token(credential))).credential_class is ASSISTANT
    else:
        with pytest.raises(Forbidden):
            asyncio.run(admit(a_token(credential)))


def test_an_agents_token_is_no_assistants() -> None:
    credential = a_credential(grants=frozenset({Grant.READ_PUBLIC}))
    with pytest.raises(Unauthenticated):
        asyncio.run(AdmitAssistant(admit=Door(credential).admit)(a_token(credential)))
