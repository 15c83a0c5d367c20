"""Who is let in on the path of Dify, and what Dify's own check of a new key is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.credentials import CredentialStatus
from shared.domain.exposure import CredentialClass, Grant
from tests.support.builders import NOW, a_token
from tests.support.dify_calls import NOT_ACCEPTED, an_agent, refusal, the_key_alone
from tests.support.search_stage import Stage, passages


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


@pytest.fixture
def granted(stage: Stage) -> str:
    return a_token(an_agent(stage))


# --- keys -----------------------------------------------------------------------------------------


def _wrong_keys(stage: Stage) -> dict[str, str]:
    def of(credential_class: CredentialClass, **over: Any) -> str:
        return a_token(stage.add_credential(**{"credential_class": credential_class, **over}))

    assistant = CredentialClass.ASSISTANT
    return {
        "not ours": "ragflow-a1b2c3",
        "unknown": f"kg_ast_{'b' * 16}_{'5e' * 32}",
        "unknown agent": f"kg_agt_{'b' * 16}_{'5e' * 32}",
        "wrong secret": a_token(stage.assistant_credential, secret="00" * 32),
        "revoked": of(assistant, grants=frozenset({Grant.READ_PUBLIC}), status=CredentialStatus.DISABLED),
        "expired": of(assistant, grants=frozenset({Grant.READ_PUBLIC}), expires_at=NOW),
        "assistant without the grant": of(assistant),
        "agent without the grant": a_token(stage.agent_credential),
        "admin": of(CredentialClass.ADMIN),
        "widget": a_token(stage.widget_credential),
        "of another class than it says": a_token(stage.assistant_credential).replace("_ast_", "_agt_"),
        "two words": f"Bearer {a_token(stage.assistant_credential)}",
    }


def test_every_key_that_is_not_accepted_gets_the_same_bytes(stage: Stage) -> None:
    stage.add(*passages(1))
    headers = {"x-request-id": "r"}
    answers = {}
    for why, token in _wrong_keys(stage).items():
        answers[why] = stage.dify(token=token, headers=headers)
        answers[why + ", body that is none"] = stage.send_search(
            {**the_key_alone(token), "headers": {**the_key_alone(token)["headers"], **headers}}
        )
    first = answers["unknown"]
    assert refusal(first) == NOT_ACCEPTED
    assert {why: answer for why, answer in answers.items() if answer != first} == {}
    assert stage.retriever.asked == []
    assert "WWW-Authenticate" not in first.headers


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Basic a2V5", "kg_ast_" + "a" * 16 + "_" + "5e" * 32, "Token x"]
)
def test_a_header_that_is_none_has_a_code_of_its_own(stage: Stage, header: str | None) -> None:
    answer = stage.dify(headers={"authorization": header})
    assert refusal(answer) == (403, 1001)
    assert stage.credentials.reads == 0


def test_an_invented_key_causes_no_write(stage: Stage) -> None:
    stage.dify(token=f"kg_ast_{'b' * 16}_{'5e' * 32}")
    assert not stage.rate_limits.counts


# --- the check of a new key -----------------------------------------------------------------------

# What Dify takes for a reason to refuse the key; it shows every other status as a success.
REJECTS = {403, 404, 502}


def test_a_good_key_passes_difys_check_and_is_told_what_is_missing(stage: Stage, granted: str) -> None:
    for token in (a_token(stage.assistant_credential), granted):
        answer = stage.send_search(the_key_alone(token))
        assert refusal(answer) == (400, 4001)
        assert answer.status not in REJECTS
        assert "The key works." in answer.json["error_msg"]
    assert stage.retriever.asked == []


def test_a_wrong_key_does_not_pass_difys_check(stage: Stage) -> None:
    for token in (None, *_wrong_keys(stage).values()):
        assert stage.send_search(the_key_alone(token)).status in REJECTS
