"""Killing the admin function in the middle of a write leaves the old or the new state, never half."""

from __future__ import annotations

import http.client
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from tests.e2e.running import CREDENTIALS, PROVIDERS, WIDGET_SEARCH, Answer, Gateway, call, running, wait_until_gone

pytestmark = [pytest.mark.emulator, pytest.mark.slow]

ROUNDS = 4
_LONGEST_WAIT_S = 0.04  # each round has a part of it, so that few rounds are spread over all of a request


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with running(tmp_path_factory.mktemp("kill"), "--no-demo") as gateway:
        yield gateway


def killed_while(gateway: Gateway, number: int, method: str, path: str, body: Any, **headers: str) -> bool:
    """Sends a request and kills every admin process at some moment in that round's part of it. True when the request
    was answered.
    """
    gateway.as_admin("GET", PROVIDERS)  # a warm process is there
    answers: list[Answer] = []

    def send() -> None:
        with suppress(OSError, http.client.HTTPException):
            answers.append(gateway.as_admin(method, path, body, **headers))

    workers = gateway.workers("admin")
    thread = threading.Thread(target=send)
    thread.start()
    time.sleep(random.uniform(number, number + 1) * _LONGEST_WAIT_S / ROUNDS)
    for pid in workers:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    thread.join(60)
    wait_until_gone(workers)
    assert len(answers) == 1
    assert answers[0].status < 400 or answers[0].status == 500
    return answers[0].status < 400


def all_providers(gateway: Gateway) -> dict[str, dict[str, Any]]:
    listed = gateway.as_admin("GET", PROVIDERS + "?limit=100").found
    assert listed["nextCursor"] is None
    return {each["name"]: each for each in listed["providers"]}


def audit_of(gateway: Gateway, resource: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = gateway.as_admin("GET", "/api/v1/audit?limit=100").found["entries"]
    return [each for each in entries if each["resource"] == resource]


def test_a_registration_is_there_whole_or_not_at_all(gateway: Gateway) -> None:
    answered = 0
    for number in range(ROUNDS):
        wanted = {"name": f"new {number}", "exposureProfile": "customer_safe", "baseUrl": "http://127.0.0.1:9"}
        answered += killed_while(gateway, number, "POST", PROVIDERS, wanted, Idempotency_Key=f"round-{number}")
        there = all_providers(gateway).get(wanted["name"])
        again = gateway.as_admin("POST", PROVIDERS, wanted, Idempotency_Key=f"round-{number}")
        assert again.status == 201
        if there is None:  # nothing of it was written: the name is free and so is the key
            assert again.json["secret"] is not None
        else:  # all of it was: the repetition finds it, and shows no secret
            assert again.json["id"] == there["id"]
            assert again.json["secret"] is None
        taken = gateway.as_admin("POST", PROVIDERS, wanted)
        assert (taken.status, taken.json["code"]) == (409, "name_taken")
        assert [each["action"] for each in audit_of(gateway, f"provider/{again.json['id']}")] == ["provider.created"]
        gateway.remove_provider(again.json["id"])
        assert wanted["name"] not in all_providers(gateway)
    print(f"\n{answered} of {ROUNDS} registrations were answered before the kill")


def test_a_change_is_made_whole_or_not_at_all(gateway: Gateway) -> None:
    provider_id = gateway.provider("changing", "http://127.0.0.1:9", activate=False)
    path = f"{PROVIDERS}/{provider_id}"
    answered = 0
    for number in range(ROUNDS):
        before = gateway.as_admin("GET", path)
        body = {"name": f"changed {number}", "priority": number + 1}
        answered += killed_while(gateway, number, "PATCH", path, body, If_Match=before.headers["etag"])
        after = gateway.as_admin("GET", path).found
        changed = {**before.json, **body, "generation": before.json["generation"] + 1}
        assert {k: after[k] for k in ("name", "priority", "generation")} in (
            {k: before.json[k] for k in ("name", "priority", "generation")},
            {k: changed[k] for k in ("name", "priority", "generation")},
        )
        entries = audit_of(gateway, f"provider/{provider_id}")
        assert max(each["generationAfter"] for each in entries) == after["generation"]
        # The name that is not in use is free: its row went and came with the registration.
        other = before.json["name"] if after["name"] == body["name"] else body["name"]
        gateway.remove_provider(gateway.provider(other, "http://127.0.0.1:9", activate=False))
    print(f"\n{answered} of {ROUNDS} changes were answered before the kill")
    gateway.remove_provider(provider_id)


def test_a_widget_credential_and_its_origins_come_and_go_together(gateway: Gateway) -> None:
    answered = 0
    for number in range(ROUNDS):
        origin = f"https://site-{number}.example"
        wanted = {"class": "pub", "name": f"site {number}", "origins": [origin]}
        answered += killed_while(gateway, number, "POST", CREDENTIALS, wanted)
        listed = gateway.as_admin("GET", CREDENTIALS + "?limit=100").found["credentials"]
        made = [each for each in listed if each["name"] == wanted["name"]]
        assert len(made) <= 1
        assert allows(gateway, origin) == bool(made)
        for each in made:
            path = f"{CREDENTIALS}/{each['id']}"
            etag = gateway.as_admin("GET", path).headers["etag"]
            killed_while(gateway, number, "DELETE", path, None, If_Match=etag)
            assert allows(gateway, origin) == (gateway.as_admin("GET", path).status == 200)
    print(f"\n{answered} of {ROUNDS} credentials were answered before the kill")


def allows(gateway: Gateway, origin: str) -> bool:
    """Whether a browser on that origin would be let through."""
    answer = call(gateway.url, "OPTIONS", WIDGET_SEARCH, Origin=origin, Access_Control_Request_Method="POST")
    return answer.headers.get("access-control-allow-origin") == origin
