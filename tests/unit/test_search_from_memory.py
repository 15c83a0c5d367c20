"""When the store cannot be used, whom it vouched for a moment ago is answered from memory, for a minute."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from shared.domain.circuits import Circuit, Lane, revision_of
from shared.domain.exposure import CredentialClass, ExposureProfile, Grant
from shared.errors import Unavailable
from shared.observability import SEARCHED_FROM_MEMORY
from tests.support.builders import NOW, a_passage, a_token
from tests.support.lost_store import AWAY, HEADER, find, is_refused, lose, titles
from tests.support.search_stage import Answered, Stage

AGENT_ONLY = ExposureProfile.AGENT_ONLY


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


# --- what is answered ---------------------------------------------------------------------------------


def test_an_agent_whose_token_was_verified_a_moment_ago_is_answered_and_told(stage: Stage) -> None:
    stage.add(a_passage(title="Public"))
    stage.add(a_passage(title="Internal"), exposure_profile=AGENT_ONLY)
    before = stage.agent(headers={"x-helpthread-agent-id": "kim"})
    assert HEADER not in before.headers
    lose(stage)
    answer = stage.agent(headers={"x-helpthread-agent-id": "kim", "x-request-id": "r-9"})
    assert titles(answer) == titles(before) == ["Public", "Internal"]
    assert answer.headers[HEADER] == "store"
    assert stage.log.of(SEARCHED_FROM_MEMORY) == [{"request_id": "r-9", "agent_id": "kim"}]


@pytest.mark.parametrize("part", ["credentials", "rate_limits", "catalog"])
def test_it_does_not_matter_which_part_of_the_opening_is_lost(stage: Stage, part: str) -> None:
    stage.add(a_passage(title="Public"))
    stage.agent()
    lose(stage, part)
    assert stage.agent().headers[HEADER] == "store"


def test_what_is_answered_from_memory_is_not_counted(stage: Stage) -> None:
    stage.add()
    stage.agent()
    counted = stage.rate_limits.counts.copy()
    lose(stage)
    assert [stage.agent().status for _ in range(5)] == [200] * 5
    assert stage.rate_limits.counts == counted


def test_without_its_circuits_every_source_is_asked(stage: Stage) -> None:
    provider = stage.add(a_passage(title="Public"))
    stage.agent()
    open_ = Circuit(revision=revision_of(provider.source), failures=3, open_until=NOW + 900)
    stage.circuits[Lane.AGENT].circuits[provider.id] = open_
    assert titles(stage.agent()) == []
    lose(stage)
    assert titles(stage.agent()) == ["Public"]


def test_circuits_alone_being_lost_is_no_reason_for_memory(stage: Stage) -> None:
    stage.add(a_passage(title="Public"))
    stage.circuits[Lane.AGENT].failure = AWAY
    answer = stage.agent()
    assert titles(answer) == ["Public"]
    assert HEADER not in answer.headers


def test_the_list_of_providers_of_the_credential_holds_from_memory_too(stage: Stage) -> None:
    mine, other = stage.add(a_passage(title="Mine")), stage.add(a_passage(title="Other"))
    bound = stage.add_credential(allowed_providers=(mine.id,))
    stage.agent(token=a_token(bound))
    lose(stage)
    answer = stage.agent(token=a_token(bound), providers=[mine.id, other.id])
    assert titles(answer) == ["Mine"]
    assert [one["errorCode"] for one in answer.json["providers"]] == [None, "not_found"]


def test_grants_hold_from_memory_too(stage: Stage) -> None:
    stage.add(a_passage(title="Public"))
    granted = stage.add_credential(grants=frozenset({Grant.EXTERNAL_KNOWLEDGE_AGENT}))
    for credential in (stage.agent_credential, granted):
        stage.agent(token=a_token(credential))
    lose(stage)
    assert stage.dify(token=a_token(stage.agent_credential), knowledge_id="all").status == 403
    answer = stage.dify(token=a_token(granted), knowledge_id="all")
    assert (answer.status, answer.headers[HEADER]) == (200, "store")


def test_a_body_that_cannot_be_read_is_told_from_memory_too(stage: Stage) -> None:
    stage.agent()
    lose(stage)
    assert stage.agent(limit=0).status == 422


def test_a_source_whose_secret_cannot_be_opened_any_more_is_not_configured_and_the_others_answer(stage: Stage) -> None:
    public, internal = stage.add(a_passage(title="Public")), stage.add(exposure_profile=AGENT_ONLY)
    stage.agent()
    lose(stage)
    stage.unsealers[AGENT_ONLY].failure = Unavailable(code="secrets_unavailable", retry_after_s=5)
    answer = stage.agent()
    assert titles(answer) == ["Public"]
    outcomes = {one["id"]: (one["status"], one["errorCode"]) for one in answer.json["providers"]}
    assert outcomes == {public.id: ("success", None), internal.id: ("skipped", "not_configured")}


def test_when_the_store_is_back_nothing_comes_from_memory_any_more(stage: Stage) -> None:
    stage.add(a_passage(title="Old"))
    stage.agent()
    lose(stage)
    stage.agent()
    find(stage)
    stage.add(a_passage(title="New"))
    answer = stage.agent()
    assert titles(answer) == ["Old", "New"]
    assert HEADER not in answer.headers


# --- how long -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("age_s", "is_answered"), [(0, True), (59, True), (60, False), (61, False)])
def test_what_was_verified_and_read_together_is_remembered_for_a_minute(
    stage: Stage, age_s: float, is_answered: bool
) -> None:
    stage.add()
    stage.agent()
    lose(stage)
    stage.clock.advance(age_s)
    answer = stage.agent()
    assert is_refused(answer) is not is_answered


def test_an_answer_from_memory_makes_nothing_younger(stage: Stage) -> None:
    stage.add()
    stage.agent()
    lose(stage)
    stage.clock.advance(40)
    assert stage.agent().status == 200
    stage.clock.advance(40)
    assert is_refused(stage.agent())


@pytest.mark.parametrize("part", ["credentials", "catalog"])
def test_both_the_token_and_the_registrations_have_to_be_young(stage: Stage, part: str) -> None:
    """One of them goes on being confirmed; the other was last seen 61 seconds ago."""
    stage.add()
    stage.agent()
    stage.clock.advance(61)
    if part == "credentials":
        stage.agent(token=a_token(stage.add_credential()))  # reads the registrations for another caller
    else:
        stage.catalog.failure = AWAY
        assert is_refused(stage.agent())  # its token is verified; the registrations are not read
    lose(stage)
    assert is_refused(stage.agent())


@pytest.mark.parametrize("back_s", [-1.0, -600.0])
def test_a_clock_that_was_set_back_ends_what_is_remembered(stage: Stage, back_s: float) -> None:
    stage.add()
    stage.agent()
    lose(stage)
    stage.clock.step(wall=back_s)
    assert is_refused(stage.agent())


def test_a_credential_that_ends_meanwhile_has_ended(stage: Stage) -> None:
    stage.add()
    short = stage.add_credential(expires_at=NOW + 30)
    stage.agent(token=a_token(short))
    lose(stage)
    stage.clock.advance(29)
    assert stage.agent(token=a_token(short)).status == 200
    stage.clock.advance(1)
    assert is_refused(stage.agent(token=a_token(short)))


# --- whom not -----------------------------------------------------------------------------------------


def test_nothing_is_known_of_a_token_that_was_never_verified_here(stage: Stage) -> None:
    stage.add()
    stage.agent()
    lose(stage)
    assert is_refused(stage.agent(token=a_token(stage.add_credential())))
    assert is_refused(stage.agent(token=a_token(stage.agent_credential, secret="00" * 32)))
    granted = stage.add_credential(grants=frozenset({Grant.EXTERNAL_KNOWLEDGE_AGENT}))
    assert stage.dify(token=a_token(granted)).status == 503


def test_registrations_that_were_never_read_are_not_made_up(stage: Stage) -> None:
    stage.add()
    lose(stage, "catalog")
    assert is_refused(stage.agent())  # verified, and no registrations
    lose(stage)
    assert is_refused(stage.agent())


def test_registrations_that_the_store_has_shown_to_be_outdated_are_forgotten(stage: Stage) -> None:
    stage.add()
    stage.agent()
    stage.catalog.has_moved = True
    lose(stage, "catalog")
    assert is_refused(stage.agent())
    lose(stage)
    assert is_refused(stage.agent())


@pytest.mark.parametrize("who", ["assistant", "widget", "dify"])
def test_assistants_and_widgets_are_never_answered_from_memory(stage: Stage, who: str) -> None:
    stage.add()
    ask: Callable[[], Answered] = getattr(stage, who)
    assert ask().status == 200
    assert stage.agent().status == 200
    lose(stage)
    assert ask().status == 503
    assert "Retry-After" in ask().headers
    assert HEADER not in ask().headers


def test_an_assistants_token_is_no_agents_whatever_is_remembered_of_it(stage: Stage) -> None:
    stage.add()
    stage.agent()
    stage.assistant()
    lose(stage)
    token = a_token(stage.assistant_credential)
    disguised = token.replace(f"kg_{CredentialClass.ASSISTANT}_", f"kg_{CredentialClass.AGENT}_")
    assert is_refused(stage.agent(token=disguised))
