"""Retrievals as Dify sends them, and what their answers have to look like."""

from __future__ import annotations

import copy
import json
from typing import Any

from shared.domain.credentials import Credential
from shared.domain.exposure import CredentialClass, Grant
from tests.support.published import faults_of
from tests.support.search_stage import Answered, Stage, event_of

PATH = "/api/v1/dify/retrieval"
NOT_ACCEPTED = (403, 1002)


def an_agent(stage: Stage, **over: Any) -> Credential:
    """One that may be used as external knowledge, unless told otherwise."""
    grants = frozenset({Grant.EXTERNAL_KNOWLEDGE_AGENT})
    return stage.add_credential(**{"credential_class": CredentialClass.AGENT, "grants": grants, **over})


def refusal(answer: Answered) -> tuple[int, int]:
    """Status and code of an answer that has Dify's shape of errors, and no other."""
    assert answer.headers["Content-Type"] == "application/json"
    assert set(answer.json) == {"error_code", "error_msg"}
    assert isinstance(answer.json["error_msg"], str)
    assert answer.json["error_msg"]
    assert faults_of("POST", PATH, answer.status, answer.headers, answer.text) == []
    return answer.status, answer.json["error_code"]


def records(answer: Answered) -> list[dict[str, Any]]:
    assert answer.status == 200, answer.text
    assert set(answer.json) == {"records"}
    assert faults_of("POST", PATH, answer.status, answer.headers, answer.text) == []
    found: list[dict[str, Any]] = answer.json["records"]
    return found


def the_key_alone(token: str | None) -> dict[str, Any]:
    """What Dify sends when a key is typed in: the key, and nothing else."""
    event = event_of("dify_retrieval")
    event["headers"] = {"accept": "*/*", "content-length": "0"} | (
        {"authorization": f"Bearer {token}"} if token is not None else {}
    )
    del event["body"]
    return event


def sent_as(event: dict[str, Any], token: str, **body: Any) -> dict[str, Any]:
    """The recorded retrieval with this key and these fields in place of its own."""
    event = copy.deepcopy(event)
    event["headers"]["authorization"] = f"Bearer {token}"
    event["body"] = json.dumps(json.loads(event["body"]) | body)
    return event
