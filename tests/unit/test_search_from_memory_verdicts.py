"""What the store still says wins over what is remembered; a store that does not answer is waited for with patience."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from shared.domain.credentials import CredentialStatus
from shared.services import open_search
from tests.support.builders import a_passage, a_token
from tests.support.lost_store import HEADER, is_refused, lose, titles
from tests.support.search_stage import Stage


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


# --- what the store says wins -------------------------------------------------------------------------


def _revoke(stage: Stage) -> None:
    del stage.store.credentials[stage.agent_credential.id]


def _disable(stage: Stage) -> None:
    disabled = replace(stage.agent_credential, status=CredentialStatus.DISABLED)
    stage.store.credentials[disabled.id] = disabled


def _rotate(stage: Stage) -> None:
    stage.store.credentials[stage.agent_credential.id] = replace(stage.agent_credential, digest=b"\x01" * 32)


END = pytest.mark.parametrize("end", [_revoke, _disable, _rotate], ids=["revoked", "disabled", "rotated"])


@END
def test_a_credential_that_the_store_no_longer_vouches_for_is_refused_and_forgotten(stage: Stage, end: Any) -> None:
    stage.add()
    stage.agent()
    end(stage)
    lose(stage, "catalog", "rate_limits")
    assert stage.agent().status == 401
    lose(stage)
    assert is_refused(stage.agent())


@END
def test_the_verdict_wins_also_over_a_counter_and_registrations_that_never_answer(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, end: Any
) -> None:
    stage.add()
    stage.agent()
    end(stage)
    monkeypatch.setattr(stage.rate_limits, "count", never)
    monkeypatch.setattr(stage.catalog, "providers", never)
    assert stage.agent().status == 401


def test_a_wrong_secret_that_somebody_offers_forgets_nothing_of_the_right_one(stage: Stage) -> None:
    stage.add()
    stage.agent()
    assert stage.agent(token=a_token(stage.agent_credential, secret="00" * 32)).status == 401
    lose(stage)
    assert stage.agent().status == 200


def test_over_its_rate_nobody_is_answered_from_memory(stage: Stage) -> None:
    stage.add()
    once = stage.add_credential(rate_per_minute=1)
    assert stage.agent(token=a_token(once)).status == 200
    lose(stage, "catalog")
    assert stage.agent(token=a_token(once)).status == 429


# --- a store that does not answer ---------------------------------------------------------------------


async def never(*_anything: Any) -> Any:
    await asyncio.Event().wait()


@pytest.fixture
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_search, "PATIENCE_S", 0.02)


@pytest.mark.usefixtures("in_a_hurry")
@pytest.mark.parametrize("part", ["credentials.find", "rate_limits.count", "catalog.providers"])
def test_a_store_that_hangs_is_not_waited_for_until_the_deadline(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    stage.add(a_passage(title="Public"))
    stage.agent()
    owner, method = part.split(".")
    monkeypatch.setattr(getattr(stage, owner), method, never)
    answer = stage.agent(deadlineMs=20_000)
    assert titles(answer) == ["Public"]
    assert answer.headers[HEADER] == "store"


@pytest.mark.parametrize(("left_s", "patience_s"), [(0.6, 0.2), (6.0, 2.0), (12.0, 2.0), (25.0, 2.0)])
def test_patience_is_bounded_and_leaves_two_thirds_of_the_time(left_s: float, patience_s: float) -> None:
    assert open_search.patience_of(left_s) == pytest.approx(patience_s)


@pytest.mark.usefixtures("in_a_hurry")
def test_with_nothing_to_remember_a_slow_store_has_all_the_time_there_is(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.add(a_passage(title="Public"))
    find_now = stage.credentials.find

    async def slowly(credential_id: str) -> Any:
        await asyncio.sleep(0.1)
        return await find_now(credential_id)

    monkeypatch.setattr(stage.credentials, "find", slowly)
    answer = stage.agent(deadlineMs=20_000)
    assert titles(answer) == ["Public"]
    assert HEADER not in answer.headers


@pytest.mark.usefixtures("in_a_hurry")
def test_a_slow_store_that_shows_a_change_is_waited_for_as_nothing_is_left_to_remember(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the patience: the old registrations are known to be outdated by then."""
    stage.add(a_passage(title="Old"))
    stage.agent()
    read_now = stage.catalog.providers

    async def slowly() -> Any:
        stage.catalog._known = None
        await asyncio.sleep(0.1)
        return await read_now()

    stage.add(a_passage(title="New"))
    monkeypatch.setattr(stage.catalog, "providers", slowly)
    answer = stage.agent(deadlineMs=20_000)
    assert titles(answer) == ["Old", "New"]
    assert HEADER not in answer.headers
