from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from shared.domain.agent_searches import AgentSearch
from shared.domain.credentials import Principal
from shared.domain.exposure import Audience, CredentialClass, ExposureProfile, Grant
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import FreshnessWish, Retrieval
from shared.domain.registrations import ProviderStatus
from shared.domain.replies import Reply, reply_with, reply_without
from shared.errors import Refused
from shared.services.agent_cache import MAX_ENTRIES, AgentCache, CacheKey, cache_key
from tests.support.builders import a_binding, a_passage, a_provider, a_source, a_token, an_instance
from tests.support.fakes import FakeClock
from tests.support.search_stage import Stage, passages, raising

PRINCIPAL = Principal(credential_id="a" * 16, credential_class=CredentialClass.AGENT, agent_id="kim")
SEARCH = AgentSearch(query="ferry pass")
PROVIDER = a_provider()


def key(search: AgentSearch = SEARCH, principal: Principal = PRINCIPAL, **source: Any) -> CacheKey | None:
    return cache_key(PROVIDER.with_source(**source), search, principal)


def a_reply() -> Reply:
    return reply_with(a_source(), Retrieval(passages=(a_passage(),)))


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage(cache_s=60)
    yield made
    made.close()


@pytest.mark.parametrize(
    "change",
    [
        {"query": "Ferry pass"},
        {"limit": 11},
        {"locale": "de"},
        {"locale_fallback": "de"},
        {"product": "x"},
        {"repository": "x"},
        {"version": "1"},
    ],
)
def test_a_search_that_differs_in_anything_has_another_key(change: dict[str, Any]) -> None:
    assert key(replace(SEARCH, **change)) != key()


@pytest.mark.parametrize(
    "change", [{"credential_id": "b" * 16}, {"grants": frozenset({Grant.EXTERNAL_KNOWLEDGE_AGENT})}, {"agent_id": None}]
)
def test_another_caller_has_another_key(change: dict[str, Any]) -> None:
    assert key(principal=replace(PRINCIPAL, **change)) != key()


@pytest.mark.parametrize("change", [{"id": "cs_bbbbbbbbbbbbbbbb"}, {"generation": 2}, {"contract_version": 2}])
def test_a_changed_registration_has_another_key(change: dict[str, Any]) -> None:
    assert key(**change) != key()


def test_a_binding_has_another_key_once_its_instance_has_changed() -> None:
    """It may be another server, or the same one with a credential that reaches less."""
    instance = an_instance()
    binding = a_binding(instance)
    changed = replace(binding, source=replace(instance, generation=2).at(binding.source))
    assert cache_key(binding, SEARCH, PRINCIPAL) != cache_key(changed, SEARCH, PRINCIPAL)


def test_spelling_that_unicode_calls_the_same_is_the_same_and_case_is_kept() -> None:
    assert key(AgentSearch(query=" cafe\u0301 ")) == key(AgentSearch(query="café"))
    assert key(AgentSearch(query="Café")) != key(AgentSearch(query="café"))


@pytest.mark.parametrize(
    "change", [{"conversation_id": "c"}, {"freshness": FreshnessWish.FRESH}, {"freshness": FreshnessWish.FORCE}]
)
def test_a_conversation_and_a_wish_for_fresh_text_pass_the_memory_by(change: dict[str, Any]) -> None:
    assert key(replace(SEARCH, **change)) is None


def test_a_reply_is_remembered_until_its_time_is_over() -> None:
    clock = FakeClock()
    cache = AgentCache(ttl_s=60, clock=clock)
    reply = a_reply()
    cache.keep(key(), reply)
    clock.advance(59.9)
    assert cache.recall(key()) is reply
    clock.advance(0.1)
    assert cache.recall(key()) is None


def test_no_reply_is_remembered_beyond_two_minutes_whatever_was_set() -> None:
    clock = FakeClock()
    cache = AgentCache(ttl_s=3600, clock=clock)
    cache.keep(key(), a_reply())
    clock.advance(120)
    assert cache.recall(key()) is None


def test_a_clock_that_stood_still_or_was_set_back_keeps_nothing_alive() -> None:
    clock = FakeClock()
    cache = AgentCache(ttl_s=60, clock=clock)
    for drift_s in (-1, 61):
        cache.keep(key(), a_reply())
        clock.step(wall=drift_s)
        assert cache.recall(key()) is None


def test_switched_off_it_remembers_nothing() -> None:
    cache = AgentCache(ttl_s=0, clock=FakeClock())
    cache.keep(key(), a_reply())
    assert cache.recall(key()) is None


@pytest.mark.parametrize(
    "reply",
    [
        reply_without(a_source(), OutcomeCode.TIMEOUT),
        reply_without(a_source(), OutcomeCode.QUERY_TOO_LONG),
        reply_with(a_source(), Retrieval(passages=(a_passage(truncated=True),))),
    ],
)
def test_failures_and_cut_replies_are_never_remembered(reply: Reply) -> None:
    cache = AgentCache(ttl_s=60, clock=FakeClock())
    cache.keep(key(), reply)
    assert cache.recall(key()) is None


def test_the_longest_unused_reply_makes_room() -> None:
    cache = AgentCache(ttl_s=60, clock=FakeClock())
    keys = [key(AgentSearch(query=str(number))) for number in range(MAX_ENTRIES + 1)]
    for one in keys[:-1]:
        cache.keep(one, a_reply())
    cache.recall(keys[0])
    cache.keep(keys[-1], a_reply())
    assert cache.recall(keys[1]) is None
    assert all(cache.recall(one) for one in (keys[0], keys[2], keys[-1]))


# --- in the search itself ------------------------------------------------------------------------


def test_the_second_search_is_answered_from_memory(stage: Stage) -> None:
    stage.add(*passages(2))
    stage.add(exposure_profile=ExposureProfile.AGENT_ONLY)
    headers = {"x-request-id": "r-1"}
    first, second = stage.agent(headers=headers), stage.agent(headers=headers)
    assert first.text == second.text
    assert len(stage.retriever.asked) == 2


def test_off_is_the_default() -> None:
    stage = Stage()
    stage.add(*passages(1))
    stage.agent()
    stage.agent()
    stage.close()
    assert len(stage.retriever.asked) == 2


def test_a_remembered_reply_is_nothing_to_another_credential(stage: Stage) -> None:
    stage.add(*passages(1))
    stage.agent()
    stage.agent(token=a_token(stage.add_credential(credential_class=CredentialClass.AGENT)))
    assert len(stage.retriever.asked) == 2


def test_a_disabled_or_deleted_provider_is_not_recalled(stage: Stage) -> None:
    provider = stage.add(*passages(1))
    stage.agent()
    stage.store.registrations[provider.id] = replace(provider, status=ProviderStatus.DISABLED)
    assert stage.agent().json["results"] == []
    del stage.store.registrations[provider.id]
    assert stage.agent().json["results"] == []


def test_what_is_recalled_is_sifted_again(stage: Stage) -> None:
    provider = stage.add(a_passage(audience=Audience.INTERNAL), exposure_profile=ExposureProfile.AGENT_ONLY)
    assert len(stage.agent().json["results"]) == 1
    # No registration can change its exposure; were it to happen, the memory would not be the leak.
    stage.store.registrations[provider.id] = replace(provider, exposure_profile=ExposureProfile.CUSTOMER_SAFE)
    assert stage.agent().json["results"] == []
    assert len(stage.retriever.asked) == 1


def test_a_failure_is_asked_again(stage: Stage) -> None:
    stage.add(act=raising(Refused("upstream_error")))
    stage.agent()
    stage.agent()
    assert len(stage.retriever.asked) == 2


@pytest.mark.parametrize("path", ["assistant", "widget"])
def test_the_customer_paths_ask_every_time(stage: Stage, path: str) -> None:
    stage.add(*passages(1))
    stage.agent()
    for _ in range(2):
        assert len(getattr(stage, path)().json["results"]) == 1
    assert len(stage.retriever.asked) == 3
