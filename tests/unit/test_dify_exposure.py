"""Nothing internal leaves to a Dify but by a granted agent's key: tried on generated cases, and the trial on broken
gateways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from shared.domain.customer_answers import CustomerAnswer
from shared.domain.exposure import CredentialClass, ExposureProfile
from shared.domain.registrations import CustomerSource
from shared.errors import Problem
from shared.services import open_search, search, search_for_customer
from shared.services.admit_assistant import AdmitAssistant
from shared.web import dify_answers, dify_requests
from tests.support.dify_exposure import DifyPlayer, a_dify_case
from tests.support.exposure_cases import INTERNAL, Leak

CASES = 5_000
BROKEN_CASES = 1_000


@pytest.fixture
def player() -> Iterator[DifyPlayer]:
    made = DifyPlayer()
    yield made
    made.close()


def test_no_case_leaks(player: DifyPlayer) -> None:
    _play_all(player, CASES)
    # The cases are worth something only if there was much to see, much to leak, and much to refuse.
    assert player.tally["customer_results"] > CASES / 10
    assert player.tally["agent_internal"] > CASES / 20
    assert player.tally["slips_sent"] > CASES / 20
    assert player.tally["refused"] > CASES / 5
    assert player.tally["unknown"] > CASES / 20
    assert player.tally["unanswered"] > CASES / 500


def _asks_every_provider(player: DifyPlayer, _patch: pytest.MonkeyPatch) -> None:
    async def every() -> tuple[CustomerSource, ...]:
        return tuple(CustomerSource(provider.source) for provider in player.stage.store.registrations.values())

    player.stage.customer_catalog.sources = every  # type: ignore[method-assign]


def _keeps_what_is_not_public(_player: DifyPlayer, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(search_for_customer, "sifted", lambda reply, _profile: reply)


def _keeps_what_is_not_public_for_agents(_player: DifyPlayer, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(search, "sifted", lambda reply, _profile: reply)


def _takes_an_agent_without_the_grant(_player: DifyPlayer, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(open_search, "with_grant", lambda principal, _needed: principal)


def _takes_an_assistant_without_the_grant(_player: DifyPlayer, patch: pytest.MonkeyPatch) -> None:
    async def admitted(self: AdmitAssistant, token: str | None) -> Any:
        return await self._admit(token, classes=(CredentialClass.ASSISTANT,))

    patch.setattr(AdmitAssistant, "__call__", admitted)


def _ignores_the_credentials_list(_player: DifyPlayer, patch: pytest.MonkeyPatch) -> None:
    choose = search.choose
    patch.setattr(search, "choose", lambda providers, *, named, allowed: choose(providers, named=named, allowed=None))


def _asks_all_whatever_is_named(_player: DifyPlayer, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(dify_requests, "agent_knowledge", lambda _knowledge_id: None)


def _takes_any_knowledge_of_an_assistant(_player: DifyPlayer, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(dify_requests, "check_customer_knowledge", lambda _knowledge_id: None)


def _says_more_of_a_record(_player: DifyPlayer, patch: pytest.MonkeyPatch) -> None:
    told = dify_answers.customer_records
    patch.setattr(
        dify_answers, "customer_records", lambda found: told(found).replace('"metadata":{', '"metadata":{"revision":1,')
    )


def _tells_the_providers_score(_player: DifyPlayer, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(dify_answers, "score_at", lambda rank: 1 / (rank + 1))


def _counts_what_was_hidden(player: DifyPlayer, patch: pytest.MonkeyPatch) -> None:
    told = dify_answers.customer_records

    def counted(found: CustomerAnswer) -> str:
        registered = player.stage.store.registrations.values()
        return told(found) + " " * sum(p.exposure_profile is ExposureProfile.AGENT_ONLY for p in registered)

    patch.setattr(dify_answers, "customer_records", counted)


def _says_why_a_key_is_refused(_player: DifyPlayer, patch: pytest.MonkeyPatch) -> None:
    refused = dify_answers.refused

    def explained(problem: Problem) -> Any:
        response = refused(problem)
        response.body = str(response.body).replace('"error_msg": "', f'"error_msg": "{problem.detail} ')
        return response

    patch.setattr(dify_answers, "refused", explained)


def _names_what_is_not_to_be_found(_player: DifyPlayer, patch: pytest.MonkeyPatch) -> None:
    words = {**dify_answers._FIXED, dify_answers.NO_SUCH_KNOWLEDGE: f"Only {INTERNAL} knows."}
    patch.setattr(dify_answers, "_FIXED", words)


BROKEN = [
    _asks_every_provider,
    _keeps_what_is_not_public,
    _keeps_what_is_not_public_for_agents,
    _takes_an_agent_without_the_grant,
    _takes_an_assistant_without_the_grant,
    _ignores_the_credentials_list,
    _asks_all_whatever_is_named,
    _takes_any_knowledge_of_an_assistant,
    _says_more_of_a_record,
    _tells_the_providers_score,
    _counts_what_was_hidden,
    _says_why_a_key_is_refused,
    _names_what_is_not_to_be_found,
]


@pytest.mark.parametrize("break_it", BROKEN, ids=[broken.__name__.strip("_") for broken in BROKEN])
def test_a_gateway_that_leaks_is_caught(
    player: DifyPlayer, monkeypatch: pytest.MonkeyPatch, break_it: Callable[[DifyPlayer, pytest.MonkeyPatch], None]
) -> None:
    break_it(player, monkeypatch)
    with pytest.raises(Leak):
        _play_all(player, BROKEN_CASES)


def _play_all(player: DifyPlayer, count: int) -> None:
    for number in range(count):
        player.play(a_dify_case(number))
