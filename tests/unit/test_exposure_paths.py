"""One internal and one public provider that both know the answer, asked on every path in every way that might widen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.exposure import Audience, CredentialClass, ExposureProfile, Grant
from shared.domain.registrations import Provider
from tests.support.builders import a_passage, a_token
from tests.support.search_stage import Answered, Stage

SECRET_WORDS = "override code 7731"
QUERY = "refund override code"


class Scene:
    def __init__(self) -> None:
        self.stage = Stage()
        self.internal: Provider = self.stage.add(
            a_passage(title=SECRET_WORDS, snippet=SECRET_WORDS, audience=Audience.PUBLIC, document_id="int-1"),
            exposure_profile=ExposureProfile.AGENT_ONLY,
            name="Back office",
            priority=0,
        )
        self.public = self.stage.add(a_passage(title="Refunds", snippet="Ask the desk."))

    def check(self, answer: Answered) -> None:
        seen = answer.text + str(answer.headers)
        for word in (SECRET_WORDS, self.internal.id, "Back office", "int-1", "agent_only"):
            assert word not in seen
        assert self.internal.id not in self.stage.retriever.asked_ids


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene()
    yield made
    made.stage.close()


WIDENING: list[dict[str, Any]] = [
    {},
    {"headers": {"x-audience": "agent", "x-exposure-profile": "agent_only", "x-helpthread-agent-id": "kim"}},
    {"headers": {"x-forwarded-host": "agents.fern-desk.test", "x-original-url": "/api/v1/knowledge/search"}},
    {"headers": {"cookie": "kg_agt_aaaaaaaaaaaaaaaa_" + "5e" * 32}},
]


@pytest.mark.parametrize("extra", WIDENING)
@pytest.mark.parametrize("path", ["widget", "assistant"])
def test_a_customer_path_answers_with_the_public_passage_alone(scene: Scene, path: str, extra: dict[str, Any]) -> None:
    answer = getattr(scene.stage, path)(QUERY, **extra)
    assert [r["title"] for r in answer.json["results"]] == ["Refunds"]
    scene.check(answer)


@pytest.mark.parametrize("path", ["widget", "assistant"])
def test_naming_the_internal_provider_is_refused_like_naming_anything(scene: Scene, path: str) -> None:
    send = getattr(scene.stage, path)
    named = send(QUERY, providers=[scene.internal.id], headers={"x-request-id": "r"})
    unknown = send(QUERY, providers=["ao_aaaaaaaaaaaaaaaa"], headers={"x-request-id": "r"})
    assert named.status == 422
    assert (named.text, named.headers) == (unknown.text, unknown.headers)
    scene.check(named)


@pytest.mark.parametrize("field", ["audience", "profile", "exposureProfile", "egress", "grants", "principal"])
@pytest.mark.parametrize("path", ["widget", "assistant"])
def test_no_body_field_widens(scene: Scene, path: str, field: str) -> None:
    answer = getattr(scene.stage, path)(QUERY, **{field: "agent_only"})
    assert answer.status == 422
    scene.check(answer)


def test_an_illegal_grant_in_the_store_widens_nothing(scene: Scene) -> None:
    credential = scene.stage.add_credential(credential_class=CredentialClass.ASSISTANT, grants=frozenset(Grant))
    answer = scene.stage.assistant(QUERY, token=a_token(credential))
    assert [r["title"] for r in answer.json["results"]] == ["Refunds"]
    scene.check(answer)


@pytest.mark.parametrize("path", ["widget", "assistant", "dify"])
def test_the_internal_provider_leaves_no_trace_in_the_answer(scene: Scene, path: str) -> None:
    send = getattr(scene.stage, path)
    with_internal = send(QUERY, headers={"x-request-id": "r"})
    del scene.stage.store.registrations[scene.internal.id]
    without = send(QUERY, headers={"x-request-id": "r"})
    assert (with_internal.text, with_internal.headers) == (without.text, without.headers)


def test_an_agents_token_opens_no_widget_and_a_widgets_token_no_search(scene: Scene) -> None:
    refused = scene.stage.widget(QUERY, token=a_token(scene.stage.agent_credential))
    assert refused.status == 403
    scene.check(refused)
    for send in (scene.stage.agent, scene.stage.assistant):
        answer = send(QUERY, token=a_token(scene.stage.widget_credential))
        assert answer.status == 401
        scene.check(answer)


def test_the_agent_sees_both(scene: Scene) -> None:
    titles = [r["title"] for r in scene.stage.agent(QUERY).json["results"]]
    assert titles == [SECRET_WORDS, "Refunds"]
